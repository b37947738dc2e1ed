import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, ask } from '../../api/client.ts'
import { forgetSession, useSession } from '../../api/session.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Rows } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { done, fails } from '../../parts/toast.tsx'
import classes from '../access/access.module.css'
import { ApiTokens } from './api-tokens.tsx'
import { PasswordForm } from './password-form.tsx'
import { SecondFactor } from './second-factor.tsx'

/** What everybody may change about the own sign-in. */
export function AccountPage() {
  const session = useSession()
  return (
    <Page title="Your account">
      <Facts
        facts={[
          ['Signed in as', session.name],
          ['Role', session.role],
        ]}
      />
      <div className={classes.columns}>
        <Section title="Password">
          <PasswordForm />
        </Section>
        <SecondFactor />
      </div>
      <Sessions />
      <ApiTokens />
    </Page>
  )
}

function Sessions() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const sessions = useQuery({
    queryKey: ['account', 'sessions'],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/sessions', { signal })),
  })
  const end = async (id: string, isOwn: boolean) => {
    try {
      await ask(api.DELETE('/admin/v1/sessions/{id}', { params: { path: { id } } }))
      if (isOwn) {
        forgetSession()
        await navigate({ to: '/console/sign-in' })
        return
      }
      await queryClient.invalidateQueries({ queryKey: ['account', 'sessions'] })
      done('The session has ended')
    } catch (error) {
      fails('Ending the session', error)
    }
  }
  return (
    <Section title="Your sessions">
      {sessions.isError ? (
        <Problem error={sessions.error} onAgain={() => void sessions.refetch()} />
      ) : sessions.data === undefined ? null : (
        <Rows
          label="Your sessions"
          rows={sessions.data.data}
          idOf={({ id }) => id}
          none="You have no open session."
          columns={[
            { head: 'Browser', cell: ({ user_agent }) => user_agent || 'unknown' },
            { head: 'Address', keeps: true, cell: ({ address }) => address },
            {
              head: 'By',
              keeps: true,
              cell: ({ method }) => (method === 'oidc' ? 'single sign-on' : 'password'),
            },
            { head: 'Last use', keeps: true, cell: ({ used_at }) => <Moment at={used_at} /> },
            { head: 'Ends', keeps: true, cell: ({ expires_at }) => <Moment at={expires_at} /> },
            {
              head: 'Actions',
              align: 'right',
              cell: ({ id, current }) =>
                current ? (
                  <State tone="good">this one</State>
                ) : (
                  <Button variant="subtle" color="red" onClick={() => void end(id, current)}>
                    End session
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Section>
  )
}
