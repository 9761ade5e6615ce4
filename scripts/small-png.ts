import { constants, crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE_BYTES = 8;

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

function written({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** The same picture, its data deflated as well as zlib can: a browser's own screenshots are deflated in haste. */
export function smallPng(png: Buffer): Buffer {
  const chunks = chunksOf(png);
  const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data));
  const packed = deflateSync(inflateSync(data), { level: 9, memLevel: 9, strategy: constants.Z_DEFAULT_STRATEGY });
  const others = chunks.filter(({ type }) => type !== 'IDAT');
  const end = others.findIndex(({ type }) => type === 'IEND');
  const all = others.toSpliced(end, 0, { type: 'IDAT', data: packed });
  return Buffer.concat([png.subarray(0, SIGNATURE_BYTES), ...all.map(written)]);
}
