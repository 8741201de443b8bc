python train.py --base configs/large.yaml configs/extras.yaml \
    steps=3 optimizer.rate=0.2
python train.py --base configs/large.yaml data/more.yaml
