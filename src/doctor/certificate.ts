import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Config } from '../config.ts'
import { readCertificate } from '../http/tls.ts'
import { type Finding, findingsOf, inShell, messagesIn } from './finding.ts'

const { well, warning, wrong } = findingsOf('network')
const docs = 'docs/runbook.md#the-certificate-cannot-be-used'
const dayMs = 24 * 3600 * 1000
/** Those who renew by themselves do so a month before. */
const soonMs = 14 * dayMs

/** TLS_CERT and TLS_KEY. `now`: in ms since 1970. */
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
      why: 'The key is not the one of the first certificate in the file.',
      fix: 'Take the key that was made with the certificate. These must print the same:',
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
  const fix = 'Renew it. A gateway that runs notices the new files by itself.'
  const run = `openssl x509 -in ${inShell(tlsCert)} -noout -dates`
  const until = validToDate.toISOString()
  if (to <= now)
    return [
      wrong('tls.expired', `the certificate expired on ${until}`, {
        why: 'Clients refuse it.',
        fix,
        run,
        docs,
      }),
    ]
  if (from > now) {
    const why = 'Clients refuse it until then; or the clock of this machine is wrong.'
    return [
      wrong('tls.early', `the certificate is valid from ${validFromDate.toISOString()} on`, {
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
  if (covers) return [well('tls.name', `it is for ${host}, the host of PUBLIC_URL`)]
  const what = `the certificate is not for ${host}, the host of PUBLIC_URL`
  const advice = {
    why: `It is for ${certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', ')}.${hasProxy ? ' A proxy may have one of its own for clients.' : ''}`,
    fix: 'Get a certificate with this name, or correct PUBLIC_URL.',
    docs,
  }
  return [hasProxy ? warning('tls.name', what, advice) : wrong('tls.name', what, advice)]
}
