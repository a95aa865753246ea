-- whose drafts and runs they are; '' for those from before, and for runs of commands
ALTER TABLE drafts ADD COLUMN visitor VARCHAR DEFAULT '';
ALTER TABLE runs ADD COLUMN visitor VARCHAR DEFAULT '';
