import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** To the page that takes over what another gateway has. */
export function ImportLink() {
  return (
    <Button component={Link} to="/console/import" variant="default">
      Import from LiteLLM or new-api
    </Button>
  )
}
