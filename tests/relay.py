"""A language server by way of a process that has imported it.

`relay.py SOCKET` hands its standard streams, folder and environment to that process, and ends as the server ends that
is forked for it; killing it kills the server. `relay.py SOCKET --fork` is that process, until nobody holds its stdin.
"""

import json
import os
import select
import signal
import socket
import sys

#: Descriptors that are handed on, and bytes of the message with them.
_STREAMS, _LONGEST = 3, 1 << 16


def ask(path: str) -> int:
    """Have a server forked, and wait for its exit code."""
    connection = socket.socket(socket.AF_UNIX)
    while not os.path.exists(path):
        select.select([], [], [], 0.01)
    connection.connect(path)
    message = json.dumps([os.getcwd(), dict(os.environ)])
    socket.send_fds(connection, [message.encode()], range(_STREAMS))
    for number in range(2):
        os.close(number)
    return int(connection.recv(_LONGEST) or 1)


def fork_servers(path: str) -> None:
    """Fork a server for each connection to the socket."""
    import modellint
    import modellint.server.app
    import modellint.server.stdio

    example = os.path.join(os.path.dirname(__file__), "..", "examples", "mini-omni", "broken")
    modellint.check([example], isolated=True, jobs=1)  # imports what a check needs
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{path}.new")
    listener.listen(64)
    os.rename(f"{path}.new", path)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        connection = listener.accept()[0]
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            os._exit(serve(connection))
        connection.close()


def serve(connection: socket.socket) -> int:
    """Fork a server, and tell its exit code; kill it when nobody waits any more."""
    message, streams, _, _ = socket.recv_fds(connection, _LONGEST, _STREAMS)
    pid = os.fork()
    if pid == 0:
        connection.close()
        become_server(*json.loads(message), streams)
    for number in (*streams, 0):
        os.close(number)
    end = os.pidfd_open(pid)
    if end not in select.select([end, connection], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        connection.send(str(code).encode())
    except OSError:  # it was killed
        return 1
    return 0


def become_server(folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """Run the server on the three standard streams, and end."""
    from modellint.__main__ import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["modellint", "server"]
    main()


if __name__ == "__main__":
    if sys.argv[2:] == ["--fork"]:
        fork_servers(sys.argv[1])
    else:
        sys.exit(ask(sys.argv[1]))
