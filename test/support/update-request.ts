/** The request with which an owner updates these keys of a bot. */
export function updateRequest(token: string, bot: object): RequestInit {
  return {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ bot }),
  };
}
