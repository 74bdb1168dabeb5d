import mujoco
import numpy as np

model = mujoco.MjModel.from_xml_string("""
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 1"><freejoint/><geom name="ball" type="sphere" size=".1" mass="1"/></body>
    <body pos="1 0 1"><joint name="hinge" type="hinge" axis="0 1 0"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .5 0 0"/></body>
  </worldbody>
  <actuator><motor joint="hinge" gear="2"/></actuator>
</mujoco>
""")
data = mujoco.MjData(model)
print(model.nq, model.nv, model.geom("ball").id, data.qpos.dtype, data.qpos)
heights = []
for step in range(300):
    data.ctrl[:] = np.sin(step / 20)
    mujoco.mj_step(model, data)
    heights.append(data.qpos[2])
print(np.round(heights[::50], 4), data.ncon, np.round(data.time, 3))
jacobian = np.zeros((3, model.nv))
mujoco.mj_jacBody(model, data, jacobian, None, 2)
print(np.round(jacobian, 4), np.round(data.body(1).xpos, 4), data.joint("hinge"))
turned = np.zeros(4)
mujoco.mju_axisAngle2Quat(turned, np.array([0.0, 0.0, 1.0]), np.pi / 2)
print(turned.round(5))
try:
    mujoco.mju_axisAngle2Quat(turned, np.zeros(2), 0.0)
except TypeError as error:
    print(type(error).__name__)
