/** Classes of harm, mildest first (design, section 3.2). */
export const IMAGE_CLASSES = ['observe', 'intrusive', 'elevated'] as const;
export type ImageClass = (typeof IMAGE_CLASSES)[number];

export const worseClass = (a: ImageClass, b: ImageClass): ImageClass =>
  IMAGE_CLASSES.indexOf(a) > IMAGE_CLASSES.indexOf(b) ? a : b;
