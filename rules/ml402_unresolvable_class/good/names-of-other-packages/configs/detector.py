default_scope = "mmdet"
model = dict(type="FasterRCNN", trunk=dict(type="Trunks", depth=2))
