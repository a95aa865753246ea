-- a reference bundle and a stored bundle stay as they are: what was made of one is in a copy, the first of its slot
UPDATE drafts SET slot = slot || '.1' WHERE slot <> 'mine';
