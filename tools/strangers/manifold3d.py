import numpy as np
from manifold3d import CrossSection, Manifold, Mesh

cube, ball = Manifold.cube((1, 1, 1), True), Manifold.sphere(0.6, 24)
for name, body in (("less", cube - ball), ("both", cube ^ ball), ("all", cube + ball)):
    mesh = body.to_mesh()
    print(name, mesh.vert_properties.dtype, mesh.tri_verts.dtype, mesh.vert_properties.shape)
    print(round(body.volume(), 4), round(body.surface_area(), 4), body.genus(), body.status())
corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], dtype=np.uint32)
solid = Manifold(Mesh(vert_properties=corners, tri_verts=faces))
print(solid.num_vert(), solid.num_tri(), round(solid.volume(), 5), np.round(solid.bounding_box(), 3))
bent = solid.warp(lambda point: (point[0], point[1] + point[0] ** 2, point[2]))
print(np.round(bent.to_mesh().vert_properties, 3))
turned = solid.translate(np.array([1.0, 2.0, 3.0])).rotate((0, 0, 90))
print(np.round(turned.bounding_box(), 3))
square = CrossSection.square((2.0, 1.0)).offset(0.1)
print(round(square.area(), 4), round(Manifold.extrude(square, 3.0).volume(), 4))
