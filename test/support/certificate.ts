import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const day = 24 * 3600 * 1000

/** A self-signed certificate for `localhost` and its key, both in PEM. It is valid from yesterday, or from the day before its end, until tomorrow or another time. */
export function makeCertificate(
  commonName: string,
  validTo = Date.now() + day,
): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid(0x55, 0x04, 0x03), tlv(0x0c, Buffer.from(commonName)))))
  const validity = sequence(utcTime(Math.min(Date.now(), validTo) - day), utcTime(validTo))
  // https://www.rfc-editor.org/rfc/rfc5280#section-4.1: version 3, and a subjectAltName with one DNS name.
  const names = sequence(oid(0x55, 0x1d, 0x11), tlv(0x04, sequence(tlv(0x82, Buffer.from('localhost')))))
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    tlv(0xa3, sequence(names)),
  )
  const signature = tlv(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const der = sequence(body, ecdsaWithSha256, signature)
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  }
}

function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), value])
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts))
}

function set(...parts: Buffer[]): Buffer {
  return tlv(0x31, Buffer.concat(parts))
}

function oid(...bytes: number[]): Buffer {
  return tlv(0x06, Buffer.from(bytes))
}

function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\.\d+|\D/g, '')
  return tlv(0x17, Buffer.from(`${digits.slice(2)}Z`))
}

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
