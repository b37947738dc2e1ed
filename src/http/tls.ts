import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type Server } from 'node:tls'
import type { Log } from '../telemetry/log.ts'

/** Paths of PEM files. */
interface CertificateFiles {
  tlsCert: string
  tlsKey: string
}

interface Certificate {
  /** The certificate chain, our own certificate first. */
  cert: Buffer
  key: Buffer
}

/** Throws an Error for the operator that names the variable. */
export function readCertificate({ tlsCert, tlsKey }: CertificateFiles): Certificate {
  const certificate = { cert: readPem('TLS_CERT', tlsCert), key: readPem('TLS_KEY', tlsKey) }
  checkCertificate(certificate)
  return certificate
}

/**
 * Uses a changed certificate for new connections as soon as the two files contain a certificate and its own
 * key. Open connections stay open. The files are polled rather than watched, because certbot and Kubernetes
 * provide links into another directory, whose changes a watcher does not see. Clear the timer to stop.
 */
export function followCertificate(
  server: Server,
  files: CertificateFiles,
  first: Certificate,
  log: Log,
): NodeJS.Timeout {
  log.info({ validTo: validToOf(first.cert) }, 'HTTPS only')
  let seen = first
  let reading = false
  const readFiles = async () => {
    const found = { cert: await readFile(files.tlsCert), key: await readFile(files.tlsKey) }
    if (found.cert.equals(seen.cert) && found.key.equals(seen.key)) return
    // Also set when the pair is invalid, so that one change logs one warning.
    seen = found
    checkCertificate(found)
    server.setSecureContext({ ...found, minVersion: 'TLSv1.2' })
    log.info({ validTo: validToOf(found.cert) }, 'loaded a new certificate')
  }
  let failure = ''
  const poll = () => {
    if (reading) return
    reading = true
    readFiles()
      .then(() => {
        failure = ''
      })
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        if (message === failure) return
        failure = message
        log.warn(
          { cause: message },
          'the certificate files changed but are not usable; still using the old certificate',
        )
      })
      .finally(() => {
        reading = false
      })
  }
  return setInterval(poll, pollMs).unref()
}

const pollMs = 2_000

function readPem(variable: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new Error(`${variable}: ${path} cannot be read`, { cause })
  }
}

/** Throws an Error for the operator. */
function checkCertificate({ cert, key }: Certificate): void {
  try {
    validToOf(cert)
  } catch (cause) {
    throw new Error('TLS_CERT: not a PEM file of certificates', { cause })
  }
  try {
    createSecureContext({ key })
  } catch (cause) {
    throw new Error('TLS_KEY: not a PEM file of a private key without a passphrase', { cause })
  }
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    throw new Error('TLS_CERT and TLS_KEY do not belong together', { cause })
  }
}

function validToOf(cert: Buffer): string {
  return new X509Certificate(cert).validToDate.toISOString()
}
