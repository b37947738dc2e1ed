import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { type Finding, findingsOf, inShell, messagesIn } from '../canonical/finding.ts'
import type { Config } from '../config/config.ts'
import { readCertificate } from './tls.ts'

const { well, warning, wrong } = findingsOf('network')
const docs = 'docs/runbook.md#the-certificate-cannot-be-used'
const dayMs = 24 * 3600 * 1000
/** Automatic renewal normally takes place a month before the certificate expires. */
const soonMs = 14 * dayMs

/** Checks TLS_CERT and TLS_KEY. `now` is in milliseconds since 1970. */
export function checkCertificate(
  { tlsCert, tlsKey, publicUrl, trustedProxies }: Config,
  now: number,
): Finding[] {
  if (tlsCert === undefined || tlsKey === undefined) return []
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(readCertificate({ tlsCert, tlsKey }).cert)
  } catch (error) {
    return [unusable(error, tlsCert, tlsKey)]
  }
  const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')
  return [
    ...checkTime(certificate, tlsCert, now),
    ...checkName(certificate, host, trustedProxies !== undefined),
  ]
}

function unusable(error: unknown, tlsCert: string, tlsKey: string): Finding {
  const [what = '', ...causes] = messagesIn(error).split(': ')
  const why = causes.join(': ')
  if (what.includes('do not belong together'))
    return wrong('tls.mismatch', what, {
      why: 'The key does not belong to the first certificate in the file.',
      fix: 'Use the key that was created with the certificate. Both commands must print the same public key:',
      run: `openssl x509 -in ${inShell(tlsCert)} -noout -pubkey; openssl pkey -in ${inShell(tlsKey)} -pubout`,
      docs,
    })
  const file = what.startsWith('TLS_KEY') ? tlsKey : tlsCert
  return wrong('tls.file', messagesIn(error), {
    why: why || what,
    run: `ls -l ${inShell(file)}; head -1 ${inShell(file)}`,
    docs,
  })
}

function checkTime({ validFromDate, validToDate }: X509Certificate, tlsCert: string, now: number): Finding[] {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  const fix = 'Renew it. A running gateway picks up the new files automatically.'
  const run = `openssl x509 -in ${inShell(tlsCert)} -noout -dates`
  const until = validToDate.toISOString()
  if (to <= now)
    return [
      wrong('tls.expired', `the certificate expired on ${until}`, {
        why: 'Clients reject it.',
        fix,
        run,
        docs,
      }),
    ]
  if (from > now) {
    const why = 'Clients reject it until then, unless the clock of this machine is wrong.'
    return [
      wrong('tls.early', `the certificate is not valid before ${validFromDate.toISOString()}`, {
        why,
        run: 'timedatectl status',
        docs,
      }),
    ]
  }
  const what = `the certificate is valid until ${until}`
  const isSoon = to - now < soonMs
  return [
    isSoon
      ? warning('tls.expires', what, {
          why: `That is in ${Math.floor((to - now) / dayMs)} days.`,
          fix,
          run,
          docs,
        })
      : well('tls.valid', what),
  ]
}

function checkName(certificate: X509Certificate, host: string | undefined, hasProxy: boolean): Finding[] {
  if (host === undefined) return []
  const covers = (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined
  if (covers) return [well('tls.name', `the certificate covers ${host}, the host of PUBLIC_URL`)]
  const what = `the certificate does not cover ${host}, the host of PUBLIC_URL`
  const advice = {
    why: `It covers ${certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', ')}.${hasProxy ? ' A proxy may present its own certificate to clients.' : ''}`,
    fix: 'Get a certificate for this host, or correct PUBLIC_URL.',
    docs,
  }
  return [hasProxy ? warning('tls.name', what, advice) : wrong('tls.name', what, advice)]
}
