// What trie.bin and the context file share: little-endian arrays at multiples of eight bytes, and CRC-32.

const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/**
 * An array in a file: a view where the machine is little-endian as the file is, else a copy.
 * @template T
 * @param {ArrayBuffer} buffer the file
 * @param {{new (buffer: ArrayBuffer, offset: number, count: number): T, BYTES_PER_ELEMENT: number}} Kind such as Int32Array
 * @param {number} offset in bytes
 * @param {number} count items
 * @returns {T}
 */
export function items(buffer, Kind, offset, count) {
  if (LITTLE_ENDIAN) return new Kind(buffer, offset, count);
  const size = Kind.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(buffer.slice(offset, offset + count * size));
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
  return new Kind(bytes.buffer, 0, count);
}

const CRC = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/**
 * CRC-32 of zlib, gzip and PNG.
 * @param {Uint8Array} bytes
 * @returns {number}
 */
export function crc32(bytes) {
  let value = 0xffffffff;
  for (let i = 0; i < bytes.length; i += 1) value = CRC[(value ^ bytes[i]) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
