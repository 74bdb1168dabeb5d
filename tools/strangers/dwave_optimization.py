import numpy as np
from dwave.optimization import Model
from dwave.optimization.generators import knapsack, quadratic_assignment
from dwave.optimization.mathematical import add, maximum

model = Model()
x = model.integer(4, lower_bound=0, upper_bound=10)
weights = model.constant(np.array([1.5, 2.0, 0.5, 1.0]))
total = (weights * x).sum()
model.minimize(total)
limit = model.add_constraint(model.constant(3) <= x.sum())
with model.lock():
    model.states.resize(2)
    x.set_state(0, np.array([1, 2, 3, 4]))
    x.set_state(1, [0, 0, 0, 1])
    for i in range(2):
        print(model.objective.state(i), limit.state(i), x.state(i).dtype, x.state(i))
print(model.num_symbols(), model.num_decisions(), repr(x.shape()), total.shape())
problem = knapsack(values=[4, 3, 7], weights=[2, 1, 5], capacity=6)
print(problem.num_constraints(), problem.num_nodes())
assignment = quadratic_assignment(
    distance_matrix=np.ones((3, 3)) - np.eye(3), flow_matrix=np.arange(9).reshape(3, 3)
)
print(assignment.state_size(), add(x, x).shape(), maximum(x, x).size())
with problem.to_file() as file:
    print(len(file.read()) > 0, Model.from_file is not None)
try:
    x.set_state(5, [0, 0, 0, 0])
except (ValueError, RuntimeError) as error:
    print(repr(error)[:70])
