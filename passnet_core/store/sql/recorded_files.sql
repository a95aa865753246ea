SELECT digest FROM recorded_files
