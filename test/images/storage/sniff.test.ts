import { expect, test } from 'vitest'
import { sniff, sniffBytes } from '../../../src/storage/sniff.ts'

const images: [string, string, Buffer][] = [
  ['a PNG', 'image/png', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
  ['a JPEG of a camera', 'image/jpeg', Buffer.from('\xff\xd8\xff\xe1\0\0Exif', 'latin1')],
  ['a JPEG', 'image/jpeg', Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF', 'latin1')],
  ['an old GIF', 'image/gif', Buffer.from('GIF87a\x01\0')],
  ['a GIF', 'image/gif', Buffer.from('GIF89a\x01\0')],
  ['a WebP', 'image/webp', Buffer.from('RIFF\x24\0\0\0WEBPVP8 ', 'latin1')],
  ['an SVG', 'image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['an empty SVG', 'image/svg+xml', Buffer.from('<svg/>')],
  ['an SVG whose tag goes on in the next line', 'image/svg+xml', Buffer.from('<svg\nwidth="1">')],
  [
    'an SVG with a mark, a declaration, comments, a stylesheet and a type',
    'image/svg+xml',
    Buffer.from(
      '\ufeff<?xml version="1.0"?>\r\n<!-- made > by <html> -->\n<?xml-stylesheet href="a.css"?>\n' +
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">\n<!----><svg>',
    ),
  ],
  [
    'an SVG with declarations of its own',
    'image/svg+xml',
    Buffer.from('<!DOCTYPE svg [ <!ENTITY ns "http://ns.adobe.com/"> <!ENTITY b "x"> ]>\n<svg>'),
  ],
]

test.each(images)('%s is %s', (_, contentType, first) => {
  expect(sniff(first)).toBe(contentType)
  expect(sniff(Buffer.concat([first, Buffer.alloc(sniffBytes, ' ')]))).toBe(contentType)
})

const others: [string, string | Buffer][] = [
  ['nothing', ''],
  ['a page', '<!DOCTYPE html><html><svg></svg></html>'],
  ['a page after a comment', '<!-- <svg> --><html>'],
  ['a page with an image in it', '<html><svg>'],
  ['what only a page may hold', '<SVG onload="alert(1)">'],
  ['another element', '<svgs>'],
  ['text before the root', 'hello <svg>'],
  ['a page that calls itself an SVG', '<!DOCTYPE svg><html>'],
  ['a page after declarations', '<!DOCTYPE svg [ <!ENTITY a ">"> ]><html><svg>'],
  ['a type that only begins so', '<!DOCTYPE svgs><svg>'],
  ['a declaration without an end', '<?xml <svg>'],
  ['a comment without an end', '<!-- <svg>'],
  ['declarations without an end', '<!DOCTYPE svg [ <svg>'],
  ['an error', '{"error":{"message":"no"}}'],
  ['a PDF', '%PDF-1.7'],
  ['half of a PNG', Buffer.from('\x89PNG', 'latin1')],
  ['sound in the same container as a WebP', Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1')],
  ['an SVG in UTF-16', Buffer.from('\ufeff<svg>', 'utf16le')],
  ['an SVG after more than is looked at', `<!--${' '.repeat(sniffBytes)}--><svg>`],
]

test.each(others)('%s is not an image', (_, first) => {
  expect(sniff(Buffer.from(first))).toBeUndefined()
})
