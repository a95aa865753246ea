// The part of the picture in view: a scale and an offset, both bounded.
const NEAREST = 3;
const MARGIN = 16;
const READABLE = 0.7;

export class Camera {
  constructor(moved) {
    this.moved = moved;
    this.view = { width: 0, height: 0 };
    this.picture = { width: 0, height: 0 };
    this.scale = 1;
    this.x = 0;
    this.y = 0;
  }

  get seen() {
    return this.view.width > 0 && this.view.height > 0;
  }

  get whole() {
    const { width, height } = this.picture;
    return Math.min(1, (this.view.width - 2 * MARGIN) / width, (this.view.height - 2 * MARGIN) / height);
  }

  fit() {
    this.scale = this.whole;
    this.x = (this.view.width - this.picture.width * this.scale) / 2;
    this.y = (this.view.height - this.picture.height * this.scale) / 2;
    this.moved();
  }

  // Shows the whole picture if that is readable, else the marked box, or else the first one.
  begin({ first, marked }) {
    this.fit();
    if (this.scale >= READABLE) return;
    const across = (this.view.width - 2 * MARGIN) / this.picture.width;
    this.scale = Math.min(1, Math.max(READABLE, across));
    this.centre(marked ?? first);
    if (!marked) this.y = MARGIN;
    // a picture higher than the view fills it
    const lowest = Math.min(MARGIN, this.view.height - this.picture.height * this.scale - MARGIN);
    this.y = Math.max(lowest, Math.min(MARGIN, this.y));
    this.bound();
    this.moved();
  }

  to(scale, x = this.view.width / 2, y = this.view.height / 2) {
    const bounded = Math.min(NEAREST, Math.max(Math.min(0.5, this.whole / 2), scale));
    const factor = bounded / this.scale;
    this.x = x - (x - this.x) * factor;
    this.y = y - (y - this.y) * factor;
    this.scale = bounded;
    this.moved();
  }

  by(x, y) {
    this.x += x;
    this.y += y;
    this.bound();
    this.moved();
  }

  // Keeps some of the picture in view.
  bound() {
    const corner = (at, size, view) => Math.min(view - 40, Math.max(40 - size * this.scale, at));
    this.x = corner(this.x, this.picture.width, this.view.width);
    this.y = corner(this.y, this.picture.height, this.view.height);
  }

  centre({ x, y }) {
    this.x = this.view.width / 2 - x * this.scale;
    this.y = this.view.height / 2 - y * this.scale;
    this.moved();
  }

  // Zooms until the box is readable and wholly visible, and moves no further than that needs.
  aim(box) {
    const fits = Math.min(
      (this.view.width - 2 * MARGIN) / (box.width + 2 * MARGIN),
      (this.view.height - 2 * MARGIN) / (box.height + 2 * MARGIN),
    );
    const wanted = Math.min(fits, Math.max(this.scale, READABLE));
    if (wanted !== this.scale) this.to(wanted);
    this.reveal(box);
  }

  // Moves just far enough to show the box.
  reveal({ x, y, width, height }) {
    const within = (at, size, offset, view) => {
      const half = (size / 2) * this.scale + MARGIN;
      const middle = at * this.scale + offset;
      if (2 * half > view) return view / 2 - middle;
      return Math.max(half - middle, 0) + Math.min(view - half - middle, 0);
    };
    this.x += within(x, width, this.x, this.view.width);
    this.y += within(y, height, this.y, this.view.height);
    this.moved();
  }
}
