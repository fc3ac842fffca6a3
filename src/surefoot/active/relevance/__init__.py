"""Models of relevance p(y | x, z): how likely each grade is, before anybody has looked."""
