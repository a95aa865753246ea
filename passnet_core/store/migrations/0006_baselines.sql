-- how TorchInductor compiled, as the baseline or as the solver; older rows have the default
ALTER TABLE outcomes ADD COLUMN baseline VARCHAR DEFAULT 'inductor';
