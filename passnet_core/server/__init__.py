"""Programs that others call over HTTP: the judge as a service."""
