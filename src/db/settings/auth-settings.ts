import { z } from 'zod'
import type { FormOfSetting } from './setting.ts'
import { mustBe } from './values.ts'

const section = 'How it proves who calls'

/** The ways in which a channel's requests prove whose they are. */
const kinds = ['bearer', 'api-key', 'sigv4'] as const

/** The services of Amazon whose requests may be signed. Others never are, whoever sets a channel. */
const services = ['bedrock', 'bedrock-mantle'] as const

/** How a channel's requests prove whose they are. Absent settings stay absent. */
export interface ChannelAuth {
  kind: (typeof kinds)[number]
  /** Of `sigv4`. Absent: as the host of the base URL says. */
  region?: string
  /** Of `sigv4`: the name in the scope of a signature. Absent: as the host of the base URL says. */
  service?: (typeof services)[number]
  /** Of `sigv4`: the role to assume with the credential. */
  roleArn?: string
  /** Of `sigv4`: what the role's owner demands of those who assume it. It is not a secret. */
  externalId?: string
  /** Of `sigv4`: how the vendor's log and bill name the sessions of the role. */
  sessionName?: string
}

const text = (form: RegExp, what: string) => z.string().regex(form, mustBe(what)).exactOptional()

// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html, read 2026-11-30
const auth = z.preprocess(
  (value) => (typeof value === 'string' ? { kind: value } : value),
  z
    .strictObject({
      kind: z.enum(kinds).exactOptional(),
      region: text(/^[a-z]{2,8}(-[a-z0-9]+)+-\d{1,2}$/, 'a region, such as us-east-1'),
      service: z.enum(services).exactOptional(),
      role_arn: text(
        /^arn:aws[a-z-]{0,20}:iam::\d{12}:role\/[\w+=,.@/-]{1,1000}$/,
        'the ARN of a role, such as arn:aws:iam::123456789012:role/models',
      ),
      external_id: text(/^[\w+=,.@:/-]{2,1224}$/, 'the external id that the trust policy of the role states'),
      session_name: text(/^[\w+=,.@-]{2,64}$/, '2 to 64 letters, digits or characters of =,.@-_'),
    })
    .superRefine((all, context) => {
      for (const name of Object.keys(all)) {
        if (name !== 'kind' && all.kind !== 'sigv4')
          context.addIssue({ code: 'custom', path: [name], message: 'requires "kind: sigv4"' })
      }
      for (const name of ['external_id', 'session_name'] as const) {
        if (all[name] !== undefined && all.role_arn === undefined)
          context.addIssue({ code: 'custom', path: [name], message: 'requires "role_arn"' })
      }
    })
    .transform(
      ({ kind, region, service, role_arn, external_id, session_name }): ChannelAuth | undefined =>
        kind && {
          kind,
          ...(region !== undefined && { region }),
          ...(service !== undefined && { service }),
          ...(role_arn !== undefined && { roleArn: role_arn }),
          ...(external_id !== undefined && { externalId: external_id }),
          ...(session_name !== undefined && { sessionName: session_name }),
        },
    ),
)

/** A name alone, such as `sigv4`, means a map with only its kind. An empty map means the default. */
export const authSetting = {
  entry: auth.exactOptional(),
  form: {
    kind: {
      section,
      label: 'Kind',
      kind: 'choice',
      about: 'Where the key goes, or how requests are signed',
      options: {
        '': 'The key, in the header of the format (default)',
        bearer: 'The key, as Authorization: Bearer',
        'api-key': 'The key, in the header for API keys',
        sigv4: 'Signed for Amazon (SigV4)',
      },
    },
    region: {
      section,
      label: 'Region',
      kind: 'text',
      about: 'Of sigv4. Empty: as the base URL says',
      placeholder: 'us-east-1',
    },
    service: {
      section,
      label: 'Service',
      kind: 'choice',
      about: 'Of sigv4: whose requests are signed',
      options: {
        '': 'As the base URL says (default)',
        bedrock: 'bedrock',
        'bedrock-mantle': 'bedrock-mantle',
      },
    },
    role_arn: {
      section,
      label: 'Role to assume',
      kind: 'text',
      about: 'Of sigv4. Empty: none',
      placeholder: 'arn:aws:iam::123456789012:role/models',
    },
    external_id: { section, label: 'External id', kind: 'text', about: 'If the role demands one' },
    session_name: {
      section,
      label: 'Name of its sessions',
      kind: 'text',
      about: "In Amazon's log and bill. Empty: tollgate",
    },
  },
} as const satisfies { entry: z.ZodType; form: FormOfSetting }

export const authSection = {
  title: section,
  about: 'Without a key: with the identity of the machine, if signed.',
}
