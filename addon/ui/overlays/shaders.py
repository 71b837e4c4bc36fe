"""Two shaders that Blender lacks: solids and lines fixed to bodies.

Owns their source. The graphics card places the bodies, from a texture with the matrices of all frames, so that playback
only changes the frame number. No geometry shaders: these run on OpenGL, Metal and Vulkan alike.
"""

from __future__ import annotations

import gpu

from ...memory import remembered

# Texels in a row of the texture.
WIDTH = 1024

_PLACE = """
mat4 placement(int body)
{
  int at = (table.x * table.y + body) * 3;
  ivec3 i = ivec3(at, at + 1, at + 2);
  ivec3 y = i / table.z;
  ivec3 x = i - y * table.z;
  return transpose(mat4(texelFetch(places, ivec2(x.x, y.x), 0),
                        texelFetch(places, ivec2(x.y, y.y), 0),
                        texelFetch(places, ivec2(x.z, y.z), 0),
                        vec4(0.0, 0.0, 0.0, 1.0)));
}
"""
# Blender blends overlays in linear light, while colours are given in sRGB. Blender's own shaders convert them by a
# function that others cannot call. Done per vertex: the powers would cost more than the rest of a pixel.
_LIGHT = """
vec4 in_light(vec4 look)
{
  vec3 low = look.rgb / 12.92;
  vec3 high = pow((max(look.rgb, vec3(0.0)) + 0.055) / 1.055, vec3(2.4));
  return vec4(mix(low, high, step(vec3(0.04045), look.rgb)), look.a);
}
"""
_SOLID_VERTEX = """
void main()
{
  int own = int(body + 0.5);
  mat4 place = placement(own);
  vec3 world = (place * vec4(pos, 1.0)).xyz;
  vec3 look = (eye.w > 0.5) ? normalize(eye.xyz - world) : eye.xyz;
  facing = dot(normalize((place * vec4(normal, 0.0)).xyz), look);
  vec4 looks = color;
  if (table.w > 0) {
    looks *= texelFetch(tints, ivec2(own, 0), 0);
  }
  tint = in_light(looks);
  gl_Position = viewProjection * vec4(world, 1.0);
}
"""
_SOLID_FRAGMENT = """
void main()
{
  float side = clamp(1.0 - abs(facing), 0.0, 1.0);
  float light = 0.62 + 0.42 * abs(facing);
  float alpha = mix(tint.a, 1.0, 0.7 * side * side * side * min(tint.a * 2.0, 1.0));
  // light to the power 2.2, within half a percent
  shade = vec4(tint.rgb * (light * light * (0.76 + 0.24 * light)), alpha);
}
"""
_LINE_VERTEX = """
void main()
{
  int own = int(body + 0.5);
  mat4 place = viewProjection * placement(own);
  vec4 a = place * vec4(start, 1.0);
  vec4 b = place * vec4(end, 1.0);
  float near = 1e-4;
  if (a.w < near && b.w > near) {
    a = mix(a, b, (near - a.w) / (b.w - a.w));
  }
  else if (b.w < near && a.w > near) {
    b = mix(b, a, (near - b.w) / (a.w - b.w));
  }
  vec2 way = (b.xy / b.w - a.xy / a.w) * screen.xy;
  float size = length(way);
  way = (size > 1e-5) ? way / size : vec2(1.0, 0.0);
  float reach = 0.5 * screen.z + 1.0;
  vec4 here = (corner.x < 0.5) ? a : b;
  across = corner.y * reach;
  here.xy += vec2(-way.y, way.x) * corner.y * reach * 2.0 / screen.xy * here.w;
  here.z -= 4e-5 * here.w;  // in front of the surface that it lies on
  ink = in_light(color);
  gl_Position = here;
}
"""
_LINE_FRAGMENT = """
void main()
{
  float cover = clamp(0.5 * screen.z + 0.5 - abs(across), 0.0, 1.0);
  shade = vec4(ink.rgb, ink.a * cover);
}
"""


@remembered("content")
def solid() -> gpu.types.GPUShader:
    """vertices: pos, normal, body; uniforms: frame, bodies, texels a row, whether tints are used."""
    passed = gpu.types.GPUStageInterfaceInfo("heft_solid")
    passed.smooth("FLOAT", "facing")
    passed.flat("VEC4", "tint")
    info = _begun()
    info.push_constant("VEC4", "eye")
    info.sampler(1, "FLOAT_2D", "tints")
    for slot, (kind, name) in enumerate((("VEC3", "pos"), ("VEC3", "normal"), ("FLOAT", "body"))):
        info.vertex_in(slot, kind, name)
    return _made(info, passed, _SOLID_VERTEX, _SOLID_FRAGMENT)


@remembered("content")
def line() -> gpu.types.GPUShader:
    """vertices: start, end, corner (which end, which side), body; screen: width, height, width of the line [pixels]."""
    passed = gpu.types.GPUStageInterfaceInfo("heft_line")
    passed.no_perspective("FLOAT", "across")
    passed.flat("VEC4", "ink")
    info = _begun()
    info.push_constant("VEC4", "screen")
    for slot, (kind, name) in enumerate((("VEC3", "start"), ("VEC3", "end"), ("VEC2", "corner"), ("FLOAT", "body"))):
        info.vertex_in(slot, kind, name)
    return _made(info, passed, _LINE_VERTEX, _LINE_FRAGMENT)


def _begun() -> gpu.types.GPUShaderCreateInfo:
    # In total at most the 128 bytes that every card has for push constants.
    info = gpu.types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "viewProjection")
    info.push_constant("VEC4", "color")
    info.push_constant("IVEC4", "table")
    info.sampler(0, "FLOAT_2D", "places")
    info.fragment_out(0, "VEC4", "shade")
    return info


def _made(info, passed, vertex: str, fragment: str) -> gpu.types.GPUShader:
    info.vertex_out(passed)
    info.vertex_source(_PLACE + _LIGHT + vertex)
    info.fragment_source(fragment)
    return gpu.shader.create_from_info(info)


@remembered("content")
def points() -> gpu.types.GPUShader:
    """Dots with a colour each: Blender's own shader, whose name has changed."""
    for name in ("POINT_FLAT_COLOR", "FLAT_COLOR"):
        try:
            return gpu.shader.from_builtin(name)
        except ValueError:
            continue
    raise RuntimeError("Blender has no shader for points.")
