python train.py fit --config base.yaml --config wide.yaml --model.width 3
python train.py fit -c narrow.yaml --model.width=3
