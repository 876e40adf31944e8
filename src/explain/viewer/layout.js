// Where the boxes of a tree go. Depth grows to the right, siblings stand below each other, parents in the middle
// of their children, and subtrees move as close together as their outlines allow (Reingold and Tilford, "Tidier
// drawings of trees", 1981). Outlines are kept from the deepest level up and merged into the deeper one, so that the
// work is linear in the number of boxes.

const BOX = { width: 232, height: 84, gap: 14, column: 276, ghost: 32, phase: 44 };
const OUTLINE = { indent: 22, row: 92 };

/**
 * Sets `x` and `y` of every item, which has `height` and `children`, and returns the size of the whole. The items
 * come parents first; those without a parent are stacked.
 */
function tidy(items) {
  for (const item of items.toReversed()) {
    let outline = null;
    for (const child of item.children)
      outline = outline ? beside(outline, child.outline, child) : ((child.shift = 0), child.outline);
    outline ??= { top: [], bottom: [], shift: 0 };
    const first = item.children[0];
    const last = item.children.at(-1);
    item.middle = first ? (first.shift + first.middle + last.shift + last.middle) / 2 : 0;
    outline.top.push(item.middle - item.height / 2 - outline.shift);
    outline.bottom.push(item.middle + item.height / 2 - outline.shift);
    item.outline = outline;
  }
  const size = { width: 0, height: 0 };
  for (const item of items) {
    if (item.parent) {
      item.origin = item.parent.origin + item.shift;
    } else {
      const { top, bottom, shift } = item.outline;
      item.origin = size.height - shift - least(top);
      // What is no part of the plan stands close together.
      size.height += greatest(bottom) - least(top) + (item.height < BOX.height ? 1 : 3) * BOX.gap;
    }
    item.x = (item.parent ? item.parent.level + 1 : 0) * BOX.column;
    item.level = item.parent ? item.parent.level + 1 : 0;
    item.y = item.origin + item.middle - item.height / 2;
    size.width = Math.max(size.width, item.x + BOX.width);
  }
  for (const item of items) item.outline = null;
  return size;
}

/** Moves the outline of `child` below `before` and returns that of both. */
function beside(before, outline, child) {
  const [a, b] = [before.top.length, outline.top.length];
  const common = Math.min(a, b);
  let shift = -Infinity;
  for (let level = 1; level <= common; level++) {
    shift = Math.max(shift, before.bottom[a - level] + before.shift - outline.top[b - level] - outline.shift);
  }
  child.shift = shift + BOX.gap;
  outline.shift += child.shift;
  const [deep, other] = a >= b ? [before, outline] : [outline, before];
  const [from, to] = a >= b ? ["bottom", "bottom"] : ["top", "top"];
  const moved = other.shift - deep.shift;
  for (let level = 1; level <= common; level++) {
    deep[to][deep[to].length - level] = other[from][other[from].length - level] + moved;
  }
  return deep;
}

function least(numbers) {
  return numbers.reduce((a, b) => Math.min(a, b), Infinity);
}

function greatest(numbers) {
  return numbers.reduce((a, b) => Math.max(a, b), -Infinity);
}

/** The same for narrow windows: one item a line, indented by its depth. */
function indented(items) {
  const size = { width: 0, height: 0 };
  for (const item of items) {
    item.level = item.parent ? item.parent.level + 1 : 0;
    // What is very deep stays in sight.
    item.x = Math.min(item.level, 40) * OUTLINE.indent;
    item.y = size.height;
    size.height += item.height + (OUTLINE.row - BOX.height);
    size.width = Math.max(size.width, item.x + BOX.width);
  }
  return size;
}
