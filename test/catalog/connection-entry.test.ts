import { describe, expect, test } from 'vitest'
import { vendorByHost } from '../../src/catalog/channel-protocols.ts'
import { readGatewayYaml } from '../../src/catalog/gateway-yaml.ts'
import { vendorNames, vendors } from '../../src/catalog/traits/vendors.ts'
import { makeCertificate } from '../support/certificate.ts'

/** `vendor`, and how a channel is reached, in gateway.yaml. */

const ours = makeCertificate('upstream')
const others = makeCertificate('other')
const files: Record<string, string> = { 'ca.pem': ours.cert, 'key.pem': ours.key, 'bad.pem': 'nothing' }
const bounds = {
  upstreamConnectMs: 1000,
  upstreamFirstByteMs: 2000,
  upstreamIdleMs: 3000,
  upstreamTotalMs: 4000,
}

function read(text: string, env: Record<string, string> = {}) {
  const readFile = (name: string) => {
    const found = files[name]
    if (found === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return found
  }
  return readGatewayYaml(text, { path: 'gateway.yaml', env, readFile, bounds })
}

/** One channel with these settings, one a line: the first of them is in line 3. */
const channelWith = (lines: string, fixed = 'protocols: { openai-chat: https://api.example }') => `channels:
  - { name: c, ${fixed}, api_keys: [x], models: "*",
${lines.replace(/^ */gm, '    ')} }`

function problemsOf(text: string): string[] {
  try {
    read(text)
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : []
  }
  return []
}

describe('a vendor', () => {
  test('gives its base URLs to a channel that states none', () => {
    const text = 'channels: [{ name: m, vendor: anthropic, api_keys: [x], models: "*" }]'
    expect(read(text).channels[0]).toMatchObject({
      vendor: 'anthropic',
      protocols: { 'anthropic-messages': 'https://api.anthropic.com' },
    })
  })

  test.each(vendorNames)('%s needs no protocols where its base URLs are known', (vendor) => {
    const text = `channels: [{ name: m, vendor: ${vendor}, api_keys: [x], models: "*" }]`
    const { baseUrls } = vendors[vendor]
    if (Object.keys(baseUrls).length > 0) expect(read(text).channels[0]?.protocols).toEqual(baseUrls)
    else {
      expect(problemsOf(text)).toEqual([
        `gateway.yaml:1: channels[0].protocols: is missing: the vendor ${vendor} has no default base URL, so set base_url or protocols`,
      ])
    }
  })

  test('gives none where the channel states its own, whole or as one base URL', () => {
    const own = 'protocols: { openai-chat: https://eu.example/v1 }'
    expect(read(channelWith('vendor: openai', own)).channels[0]?.protocols).toEqual({
      'openai-chat': 'https://eu.example/v1',
    })
    const url = 'https://eu.example/v1'
    expect(read(channelWith('vendor: openai', `base_url: ${url}/`)).channels[0]?.protocols).toEqual({
      'openai-chat': url,
      'openai-responses': url,
      'openai-images': url,
    })
    expect(
      read(channelWith('vendor: vllm', 'base_url: http://gpu.internal:8000/v1')).channels[0],
    ).toMatchObject({
      protocols: { 'openai-chat': 'http://gpu.internal:8000/v1' },
    })
  })

  test('that is not known is reported with those that are, and so is a channel that leads nowhere', () => {
    const known = vendorNames.join(', ')
    expect(problemsOf(channelWith('vendor: minstral', 'base_url: https://a.example'))).toEqual([
      `gateway.yaml:3: channels[0].vendor: must be one of ${known}`,
    ])
    expect(problemsOf(channelWith('weight: heavy', 'priority: 1'))).toEqual([
      'gateway.yaml:2: channels[0].protocols: is missing',
      'gateway.yaml:3: channels[0].weight: must be a whole number',
    ])
    expect(problemsOf(channelWith('base_url: https://a.example', 'priority: 1'))).toEqual([
      'gateway.yaml:2: channels[0].protocols: is missing: "base_url" without "protocols" requires a vendor',
    ])
    expect(problemsOf(channelWith('base_url: https://a.example'))).toEqual([
      'gateway.yaml:3: channels[0].base_url: cannot be combined with "protocols"',
    ])
  })

  test('is known by the hosts of a channel, if all of them are its own', () => {
    expect(vendorByHost({ 'openai-chat': 'https://api.openai.com/v1' })).toBe('openai')
    expect(vendorByHost({ 'openai-chat': 'https://eu.api.openai.com/v1' })).toBe('openai')
    expect(vendorByHost({ 'openai-chat': 'https://api.openai.com.evil.example/v1' })).toBeUndefined()
    expect(vendorByHost({ 'openai-chat': 'https://notapi.openai.com/v1' })).toBeUndefined()
    const both = { 'openai-chat': 'https://api.openai.com/v1', 'anthropic-messages': 'https://proxy.example' }
    expect(vendorByHost(both)).toBeUndefined()
    for (const name of vendorNames) {
      const { baseUrls } = vendors[name]
      const isPublic = Object.values(baseUrls).some((url) => new URL(url).hostname.includes('.'))
      if (isPublic) expect(vendorByHost(baseUrls), name).toBe(name)
    }
  })
})

describe('a connection', () => {
  test('is read, with its files and variables', () => {
    const text = channelWith(`    proxy: "http://user:\${PASS}@proxy.internal:3128",
    ca_file: ca.pem,
    cert_file: ca.pem,
    key_file: key.pem,
    headers: { X-Team: abc, x-secret: "\${SECRET}" },
    timeouts: { connect_ms: 1000, total_ms: 20 }`)
    expect(read(text, { PASS: 'p%40ss', SECRET: 'hidden-value' }).channels[0]?.connection).toEqual({
      proxy: 'http://user:p%40ss@proxy.internal:3128/',
      ca: ours.cert,
      cert: ours.cert,
      key: ours.key,
      headers: { 'x-team': 'abc', 'x-secret': 'hidden-value' },
      timeouts: { connectMs: 1000, totalMs: 20 },
    })
    const plain = '    headers: {}, timeouts: {}, websocket: false'
    expect(read(channelWith(plain)).channels[0]).not.toHaveProperty('connection')
  })

  test('may be by WebSocket, where the protocol has one', () => {
    const responses = 'protocols: { openai-responses: https://api.example, openai-chat: https://api.example }'
    const wired = 'websocket: true'
    expect(read(channelWith(wired, responses)).channels[0]?.connection).toEqual({ websocket: true })
    expect(read(channelWith(wired, 'vendor: openai')).channels[0]?.connection).toEqual({ websocket: true })
    for (const others of ['protocols: { openai-chat: https://api.example }', 'vendor: anthropic']) {
      expect(problemsOf(channelWith(wired, others))).toEqual([
        'gateway.yaml:3: channels[0].websocket: requires "openai-responses" among the protocols, because no other protocol supports WebSocket',
      ])
    }
    expect(problemsOf(channelWith('websocket: 1', responses))).toHaveLength(1)
  })

  test('with mistakes is reported with line and path', () => {
    const text = channelWith(`    proxy: "socks5://proxy:1080",
    ca_file: missing.pem,
    headers:
      { "a b": x,
        Host: x,
        Authorization: x,
        X-Api-Key: x,
        x-goog-api-key: x,
        Proxy-Authorization: x,
        Content-Length: "3",
        transfer-encoding: x,
        x-a: " padded",
        x-b: "two\\nlines",
        x-c: 3 },
    timeouts: { connect_ms: 0, read_ms: 5 }`)
    const own = 'is a header that Tollgate sets itself; put credentials in api_keys'
    const value = 'must be visible ASCII characters without leading or trailing spaces'
    expect(problemsOf(text)).toEqual([
      'gateway.yaml:3: channels[0].proxy: must be the URL of a proxy, such as http://user:password@proxy.internal:3128',
      'gateway.yaml:6: channels[0].headers.a b: must be a valid header name',
      `gateway.yaml:7: channels[0].headers.Host: ${own}`,
      `gateway.yaml:8: channels[0].headers.Authorization: ${own}`,
      `gateway.yaml:9: channels[0].headers.X-Api-Key: ${own}`,
      `gateway.yaml:10: channels[0].headers.x-goog-api-key: ${own}`,
      `gateway.yaml:11: channels[0].headers.Proxy-Authorization: ${own}`,
      `gateway.yaml:12: channels[0].headers.Content-Length: ${own}`,
      `gateway.yaml:13: channels[0].headers.transfer-encoding: ${own}`,
      `gateway.yaml:14: channels[0].headers.x-a: ${value}`,
      `gateway.yaml:15: channels[0].headers.x-b: ${value}`,
      'gateway.yaml:16: channels[0].headers.x-c: must be text, quoted if it looks like another type',
      'gateway.yaml:17: channels[0].timeouts.connect_ms: must be 1 or more',
      'gateway.yaml:17: channels[0].timeouts.read_ms: is not a known setting',
    ])
  })

  test('has certificates that are some, keys that fit, and times within those of the process', () => {
    const indented = (pem: string) => JSON.stringify(pem)
    expect(problemsOf(channelWith('ca: text,\nca_file: ca.pem'))).toEqual([
      'gateway.yaml:3: channels[0].ca: must be certificates in PEM',
      'gateway.yaml:4: channels[0].ca_file: cannot be combined with "ca"',
    ])
    expect(problemsOf(channelWith('ca_file: bad.pem'))).toEqual([
      'gateway.yaml:3: channels[0].ca_file: must be certificates in PEM',
    ])
    expect(problemsOf(channelWith('cert_file: missing.pem,\nkey_file: key.pem'))).toEqual([
      'gateway.yaml:3: channels[0].cert_file: cannot be read (ENOENT)',
      'gateway.yaml:4: channels[0].key_file: requires a certificate ("cert")',
    ])
    expect(problemsOf(channelWith('cert_file: ca.pem'))).toEqual([
      'gateway.yaml:3: channels[0].cert_file: requires a private key ("key")',
    ])
    expect(problemsOf(channelWith(`cert_file: ca.pem,\nkey: ${indented(others.key)}`))).toEqual([
      'gateway.yaml:4: channels[0].key: must be the private key of the certificate, in PEM without a passphrase',
    ])
    const times = 'timeouts: { connect_ms: 1001,\nfirst_byte_ms: 2001,\nidle_ms: 3001,\ntotal_ms: 4001 }'
    expect(problemsOf(channelWith(times))).toEqual([
      'gateway.yaml:3: channels[0].timeouts.connect_ms: must be 1000 or less, the value of UPSTREAM_CONNECT_MS',
      'gateway.yaml:4: channels[0].timeouts.first_byte_ms: must be 2000 or less, the value of UPSTREAM_FIRST_BYTE_MS',
      'gateway.yaml:5: channels[0].timeouts.idle_ms: must be 3000 or less, the value of UPSTREAM_IDLE_MS',
      'gateway.yaml:6: channels[0].timeouts.total_ms: must be 4000 or less, the value of UPSTREAM_TOTAL_MS',
    ])
  })

  test('does not name a header twice, nor too many', () => {
    expect(problemsOf(channelWith('headers: { X-A: b, x-a: c }'))).toEqual([
      'gateway.yaml:3: channels[0].headers: must not name a header twice',
    ])
    const many = Array.from({ length: 51 }, (_, at) => `x-${at}: a`).join(', ')
    expect(problemsOf(channelWith(`headers: { ${many} }`))).toEqual([
      'gateway.yaml:3: channels[0].headers: must be a map of at most 50 headers',
    ])
  })
})
