UPDATE drafts SET visitor = $visitor WHERE visitor = ''
