// Draws the trail of a finger, from teal at touch-down to pink at lift-off.

const COLOURS = [[34, 184, 207], [112, 72, 232], [230, 73, 128]];

// Draws points of the unit square over a whole canvas.
export function drawTrail(context, trail, alpha = 1, width = 0.016) {
  const { width: w, height: h } = context.canvas;
  context.lineCap = context.lineJoin = "round";
  context.globalAlpha = alpha;
  context.lineWidth = Math.max(w * width, 2);
  for (let i = 1; i < trail.length; i += 1) {
    context.strokeStyle = colourAt(i / Math.max(trail.length - 1, 24));
    context.beginPath();
    context.moveTo(trail[i - 1][0] * w, trail[i - 1][1] * h);
    context.lineTo(trail[i][0] * w, trail[i][1] * h);
    context.stroke();
  }
  if (trail.length) {
    context.fillStyle = colourAt(0);
    context.beginPath();
    context.arc(trail[0][0] * w, trail[0][1] * h, context.lineWidth * 0.8, 0, 7);
    context.fill();
  }
  context.globalAlpha = 1;
}

export function colourAt(share) {
  const at = Math.min(share, 1) * (COLOURS.length - 1);
  const low = Math.min(Math.floor(at), COLOURS.length - 2);
  const mix = COLOURS[low].map((value, i) => Math.round(value + (COLOURS[low + 1][i] - value) * (at - low)));
  return `rgb(${mix.join(" ")})`;
}
