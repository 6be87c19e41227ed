// Computes where the nodes of a graph are drawn.

// The golden angle: it spreads points on a spiral evenly, a start that is neither random nor crowded.
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
// A few nodes stay close together, however large the box.
const LARGEST = 3;
const [LENGTH, CHARGE, GRAVITY, FRICTION] = [50, 260, 0.08, 0.6];

/**
 * Lay out `count` nodes in a box by forces: relations are springs, nodes repel each other, all are drawn a little to the
 * middle, and the movement cools down (Fruchterman & Reingold 1991). As in d3-force, springs of nodes with many relations
 * are weaker, which keeps hubs from collapsing.
 *
 * @param {number} count nodes
 * @param {[number, number][]} edges pairs of nodes
 * @param {{width: number, height: number, margin: number}} box in pixels
 * @returns {{x: Float64Array, y: Float64Array}} in pixels, within the margins
 */
export function layout(count, edges, { width, height, margin }) {
  const [x, y, vx, vy] = Array.from({ length: 4 }, () => new Float64Array(count));
  const degree = new Float64Array(count);
  for (const end of edges.flat()) degree[end] += 1;
  const inward = weights(count, edges);
  for (let i = 0; i < count; i++) {
    const radius = LENGTH * Math.sqrt((i + 0.5) / 3);
    [x[i], y[i]] = [radius * Math.cos(i * GOLDEN), radius * Math.sin(i * GOLDEN)];
  }
  const rounds = count > 200 ? 80 : 250;
  for (let heat = 1, round = 0; round < rounds; heat *= 0.001 ** (1 / rounds), round++) {
    for (const [from, to] of edges) pull(x, y, vx, vy, from, to, heat, degree);
    for (let i = 0; i < count; i++) {
      const gravity = heat * GRAVITY * inward[i];
      vx[i] -= x[i] * gravity * Math.min(1, height / width);
      vy[i] -= y[i] * gravity;
      for (let j = 0; j < i; j++) push(x, y, vx, vy, i, j, heat);
    }
    for (let i = 0; i < count; i++) {
      x[i] += vx[i] *= FRICTION;
      y[i] += vy[i] *= FRICTION;
    }
  }
  fit(x, width, margin);
  fit(y, height, margin / 2);
  return { x, y };
}

/** Return how strongly each node is drawn to the middle, 1 to 3: loosely connected nodes would drift far away. */
function weights(count, edges) {
  const part = Array.from({ length: count }, (_, i) => i);
  const root = (i) => {
    while (part[i] !== i) i = part[i] = part[part[i]];
    return i;
  };
  for (const [from, to] of edges) part[root(from)] = root(to);
  const sizes = new Float64Array(count);
  for (let i = 0; i < count; i++) sizes[root(i)] += 1;
  const largest = Math.max(...sizes);
  return part.map((_, i) => 1 + 2 * (1 - sizes[root(i)] / largest));
}

function pull(x, y, vx, vy, from, to, heat, degree) {
  const [dx, dy] = [x[to] - x[from], y[to] - y[from]];
  const length = Math.hypot(dx, dy) || 1;
  const force = ((length - LENGTH) / length) * (heat / Math.min(degree[from], degree[to]));
  const share = degree[from] / (degree[from] + degree[to]);
  vx[to] -= dx * force * share; vy[to] -= dy * force * share;
  vx[from] += dx * force * (1 - share); vy[from] += dy * force * (1 - share);
}

function push(x, y, vx, vy, i, j, heat) {
  const [dx, dy] = [x[i] - x[j], y[i] - y[j]];
  const force = (CHARGE * heat) / Math.max(dx * dx + dy * dy, 1);
  vx[i] += dx * force; vy[i] += dy * force;
  vx[j] -= dx * force; vy[j] -= dy * force;
}

function fit(places, size, margin) {
  const least = Math.min(...places), most = Math.max(...places);
  const scale = Math.min(LARGEST, (size - 2 * margin) / (most - least || 1));
  for (let i = 0; i < places.length; i++) places[i] = size / 2 + (places[i] - (least + most) / 2) * scale;
}
