import torch as backend

shift, spread = backend.add, backend.softmax
