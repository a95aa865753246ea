SELECT content FROM certificates WHERE id = $id
