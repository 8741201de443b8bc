


def mark(model, optimizer):
    for parameter in model.parameters():
        parameter.is_expert = True
        parameter.requires_grad = False
        parameter.grad_added_to_main_grad = False
    for argument in model.arguments():
        argument.require_grad = False
    optimizer.zero_grads()
