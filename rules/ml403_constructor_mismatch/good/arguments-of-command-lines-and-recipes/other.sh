tune run ours/recipe.py --config other.yaml
