import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectSecure, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { readCertificate } from '../../src/http/tls.ts'
import { makeCertificate } from '../support/certificate.ts'
import { startGateway } from '../support/gateway.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { heardFrom, say, statusesOf } from '../support/raw-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { patienceMs } from '../support/until.ts'

const home = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
const files = { tlsCert: join(home, 'cert.pem'), tlsKey: join(home, 'key.pem') }
const [first, second] = [makeCertificate('first'), makeCertificate('second')]
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('a server with a certificate', () => {
  const patient = { timeout: patienceMs, interval: 50 }
  /** The causes of its warnings about wrong certificates. */
  const refusals = () =>
    bed.tollgate
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"cause"'))
      .map((line) => JSON.parse(line).cause as string)
  let bed: Testbed
  beforeAll(async () => {
    write('tlsCert', first.cert)
    write('tlsKey', first.key)
    bed = await startTestbed({
      env: {
        TLS_CERT: files.tlsCert,
        TLS_KEY: files.tlsKey,
        HEADER_READ_MS: '1000',
        HOST: '0.0.0.0',
      },
    })
  })
  afterAll(() => bed.close())

  test('answers over TLS 1.2 and 1.3, with the address of its client in the row', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await secure({ minVersion: version, maxVersion: version })
      expect(socket.getProtocol()).toBe(version)
      socket.write(
        `GET /v1/models HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${freeKey}\r\nconnection: close\r\n\r\n`,
      )
      const received = await heardFrom(socket)
      expect(statusesOf(received)).toEqual([200])
      expect(await bed.row(/x-request-id: (\S+)/.exec(received)?.[1])).toMatchObject({
        status: 200,
        client_address: '127.0.0.1',
      })
    }
  })

  test.each(['TLSv1', 'TLSv1.1'] as const)('refuses %s', async (version) => {
    const ciphers = 'DEFAULT@SECLEVEL=0'
    await expect(secure({ minVersion: version, maxVersion: version, ciphers })).rejects.toThrow(
      /alert protocol version/,
    )
  })

  test('closes a connection that speaks no TLS, and one whose handshake does not end, without a row', async () => {
    const before = (await bed.rows()).length
    const plain = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${freeKey}\r\ncontent-length: 2\r\n\r\n{}`
    expect(statusesOf(await say(bed.tollgate.port, plain))).toEqual([])
    // The beginning of a ClientHello.
    expect(await say(bed.tollgate.port, '\x16\x03\x01\x02\x00\x01\x00')).toBe('')
    expect(await heardFrom(connect(bed.tollgate.port, '127.0.0.1'))).toBe('')
    expect(await bed.rows()).toHaveLength(before)
  })

  test('closes a silent connection after its handshake without a row, and one in the middle of a request with a row', async () => {
    const before = (await bed.rows()).length
    expect(await heardFrom(await secure())).toBe('')
    const slow = await secure()
    slow.write('POST /v1/chat/completions HTTP/1.1\r\n')
    expect(statusesOf(await heardFrom(slow))).toEqual([408])
    expect((await bed.rows()).slice(before)).toMatchObject([
      { status: 408, endpoint: '(unreadable)', client_address: '127.0.0.1' },
    ])
  })

  test('uses a new certificate for new connections when its key has come too; open ones stay', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: [first.cert, second.cert] })
    const opened = await served(agent)
    expect(opened).toMatchObject({ name: 'first', reused: false })
    write('tlsCert', second.cert)
    await vi.waitFor(
      () => expect(refusals()).toEqual(['TLS_CERT and TLS_KEY do not belong together']),
      patient,
    )
    expect(await nameOfNew()).toBe('first')
    write('tlsKey', second.key)
    await vi.waitFor(async () => expect(await nameOfNew()).toBe('second'), patient)
    expect(await served(agent)).toMatchObject({ name: 'first', reused: true })
    write('tlsCert', 'no certificate')
    await vi.waitFor(() => expect(refusals().at(-1)).toMatch(/^TLS_CERT: not a PEM file/), patient)
    expect(await nameOfNew()).toBe('second')
    await expect(secure({ maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })).rejects.toThrow()
    agent.destroy()
  })

  async function nameOfNew(): Promise<string> {
    const socket = await secure()
    const name = commonName(socket)
    socket.destroy()
    return name
  }

  function served(agent: Agent): Promise<{ name: string; reused: boolean }> {
    return new Promise((resolve, reject) => {
      const call = request(
        { host: 'localhost', port: bed.tollgate.port, path: '/healthz', agent, family: 4 },
        (response) => {
          const name = commonName(response.socket as TLSSocket)
          response.resume().on('end', () => resolve({ name, reused: call.reusedSocket }))
        },
      )
      call.on('error', reject).end()
    })
  }

  function secure(options: ConnectionOptions = {}): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = connectSecure(
        {
          host: '127.0.0.1',
          port: bed.tollgate.port,
          servername: 'localhost',
          ca: [first.cert, second.cert],
          ...options,
        },
        () => resolve(socket),
      )
      socket.once('error', reject)
    })
  }
})

describe('a start', () => {
  test.each([
    ['a missing certificate', { tlsCert: join(home, 'none.pem') }, /^TLS_CERT: .*none\.pem cannot be read$/],
    ['a missing key', { tlsKey: join(home, 'none.pem') }, /^TLS_KEY: .*none\.pem cannot be read$/],
    ['a certificate that is none', { tlsCert: 'text' }, /^TLS_CERT: not a PEM file of certificates$/],
    ['a key that is none', { tlsKey: 'text' }, /^TLS_KEY: not a PEM file of a private key/],
    ['the key of another', { tlsKey: 'other' }, /^TLS_CERT and TLS_KEY do not belong together$/],
  ])('with %s says so', (_, given, message) => {
    const paths = { tlsCert: join(home, 'good.pem'), tlsKey: join(home, 'good-key.pem') }
    writeFileSync(paths.tlsCert, first.cert)
    writeFileSync(paths.tlsKey, first.key)
    writeFileSync(join(home, 'text'), 'hello')
    writeFileSync(join(home, 'other'), second.key)
    expect(() => readCertificate(paths)).not.toThrow()
    const wrong = Object.fromEntries(
      Object.entries(given).map(([name, path]) => [name, join(home, path.replace(home, ''))]),
    )
    expect(() => readCertificate({ ...paths, ...wrong })).toThrow(message)
  })

  test('with a certificate and no key, or the other way round, names the missing one', () => {
    expect(() => readConfig({ TLS_CERT: 'a' })).toThrow('TLS_KEY: must be set if TLS_CERT is set')
    expect(() => readConfig({ TLS_KEY: 'a' })).toThrow('TLS_CERT: must be set if TLS_KEY is set')
  })

  test.each(['0.0.0.0', '::', '192.0.2.1', '2001:db8::1', 'gateway.internal', '128.0.0.1'])(
    'on %s without TLS names the three settings that allow it',
    (host) => {
      expect(() => readConfig({ HOST: host })).toThrow(
        /HOST: .*TLS_CERT and TLS_KEY.*TRUSTED_PROXIES.*PLAIN_HTTP=allow/,
      )
      for (const env of [
        { TLS_CERT: 'a', TLS_KEY: 'b' },
        { TRUSTED_PROXIES: '10.0.0.1' },
        { PLAIN_HTTP: 'allow' },
        { ROLE: 'worker' },
      ]) {
        expect(readConfig({ HOST: host, ...env }).host).toBe(host)
      }
    },
  )

  test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('on %s needs none of them', (host) => {
    expect(readConfig({ HOST: host }).host).toBe(host)
  })

  test('that is refused ends with the reason, before it opens anything', async () => {
    const start = startGateway({
      databaseUrl: 'postgres://nobody@127.0.0.1:9/none',
      gatewayYaml: '',
      env: { HOST: '0.0.0.0' },
    })
    await expect(start).rejects.toThrow(/HOST: 0\.0\.0\.0 is not a loopback address/)
  })
})

function commonName(socket: TLSSocket): string {
  return String(socket.getPeerCertificate().subject.CN)
}

/** Replaces the file at once, as certbot does: no one sees it half written. */
function write(file: keyof typeof files, text: string): void {
  writeFileSync(`${files[file]}.new`, text)
  renameSync(`${files[file]}.new`, files[file])
}
