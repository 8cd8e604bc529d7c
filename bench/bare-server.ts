// The floor of idle streams: a bare `node:http` server that answers every request with an event stream and writes our heartbeats to it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HEARTBEAT, HEARTBEAT_MS } from '../src/wire/sse.ts';
import { answerQuestions } from './gauge.ts';

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write('data: {"task":{}}\n\n');
  const timer = setInterval(() => response.write(HEARTBEAT), HEARTBEAT_MS);
  response.on('close', () => clearInterval(timer));
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const { port } = server.address() as AddressInfo; // it listens on TCP
  console.log(JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}/` }));
});
answerQuestions();
