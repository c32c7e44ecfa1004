package io.varve.server.cluster;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.varve.cluster.map.HashSlot;

/**
 * A cluster client that knows of each operation whether it has taken effect. Confined to one thread.
 *
 * <p>A write is confirmed if WAIT says that a replica has it. A read is confirmed in the same way: in one transaction
 * with it, a guard key is written, so that the value that was read is on a replica, too.
 */
final class HistoryClient implements AutoCloseable {
    /** The outcome of a write, as the client knows it. */
    enum Outcome {
        /** It has taken effect, and a replica has it. */
        CONFIRMED,
        /** It has not taken effect, and will not. */
        REFUSED,
        /** Nothing is known. */
        UNKNOWN
    }

    private static final int CONNECT_MILLIS = 500;
    private static final int READ_MILLIS = 3_000;
    private static final String WAIT_MILLIS = "300";
    private static final int MAX_REDIRECTIONS = 4;

    private final List<InetSocketAddress> members;
    private final Map<Integer, InetSocketAddress> memberOfSlot = new HashMap<>();
    private final Map<InetSocketAddress, Socket> connections = new HashMap<>();
    private int next;

    HistoryClient(List<InetSocketAddress> members) {
        this.members = List.copyOf(members);
    }

    /** Sets a key. */
    Outcome write(String key, String value) {
        for (int i = 0; i < MAX_REDIRECTIONS; i++) {
            InetSocketAddress member = member(key);
            Socket socket;
            try {
                socket = connect(member);
            } catch (IOException failed) {
                forget(key, member);
                return Outcome.REFUSED;
            }
            try {
                send(socket, List.of(List.of("SET", key, value), List.of("WAIT", "1", WAIT_MILLIS)));
                InputStream in = new BufferedInputStream(socket.getInputStream(), 1);
                String set = reply(in);
                String replicas = reply(in);
                if (set.equals("+OK")) {
                    if (replicas.startsWith(":") && !replicas.equals(":0")) {
                        return Outcome.CONFIRMED;
                    }
                    // Another member may be the primary by now.
                    forget(key, member);
                    return Outcome.UNKNOWN;
                }
                if (!follow(key, set)) {
                    forget(key, member);
                    return Outcome.REFUSED;
                }
            } catch (IOException failed) {
                forget(key, member);
                return Outcome.UNKNOWN;
            }
        }
        return Outcome.REFUSED;
    }

    /** Gets a key, if the read is confirmed. @return the value, {@code "(nil)"} if there is no key */
    Optional<String> read(String key) {
        for (int i = 0; i < MAX_REDIRECTIONS; i++) {
            InetSocketAddress member = member(key);
            try {
                Socket socket = connect(member);
                send(socket, List.of(List.of("MULTI"), List.of("GET", key), List.of("SET", key + "guard", "1"),
                        List.of("EXEC"), List.of("WAIT", "1", WAIT_MILLIS)));
                InputStream in = new BufferedInputStream(socket.getInputStream(), 1);
                String multi = reply(in);
                String queued = reply(in);
                String guard = reply(in);
                String executed = reply(in);
                String value = executed.equals("*2") ? reply(in) : "";
                String guarded = executed.equals("*2") ? reply(in) : "";
                String replicas = reply(in);
                if (multi.equals("+OK") && guarded.equals("+OK") && replicas.startsWith(":")
                        && !replicas.equals(":0")) {
                    return Optional.of(value);
                }
                if (!follow(key,
                        queued.startsWith("-MOVED") ? queued : guard.startsWith("-MOVED") ? guard : executed)) {
                    forget(key, member);
                    return Optional.empty();
                }
            } catch (IOException failed) {
                forget(key, member);
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** Gets a key from a member that answers as its primary. @return the value, {@code "(nil)"} if there is no key */
    Optional<String> readPlainly(String key) {
        for (int i = 0; i < MAX_REDIRECTIONS; i++) {
            InetSocketAddress member = member(key);
            try {
                Socket socket = connect(member);
                send(socket, List.of(List.of("GET", key)));
                String value = reply(new BufferedInputStream(socket.getInputStream(), 1));
                if (!value.startsWith("-")) {
                    return Optional.of(value);
                }
                if (!follow(key, value)) {
                    return Optional.empty();
                }
            } catch (IOException failed) {
                forget(key, member);
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    private InetSocketAddress member(String key) {
        return memberOfSlot.computeIfAbsent(HashSlot.of(key), _ -> members.get(next++ % members.size()));
    }

    private void forget(String key, InetSocketAddress member) {
        memberOfSlot.remove(HashSlot.of(key));
        Socket socket = connections.remove(member);
        if (socket != null) {
            close(socket);
        }
    }

    /** Follows MOVED. @return whether the reply is one */
    private boolean follow(String key, String reply) {
        if (!reply.startsWith("-MOVED ")) {
            return false;
        }
        String address = reply.substring(reply.lastIndexOf(' ') + 1);
        int colon = address.lastIndexOf(':');
        memberOfSlot.put(HashSlot.of(key), new InetSocketAddress(address.substring(0, colon),
                Integer.parseInt(address.substring(colon + 1))));
        return true;
    }

    private Socket connect(InetSocketAddress member) throws IOException {
        Socket known = connections.get(member);
        if (known != null) {
            return known;
        }
        Socket socket = new Socket();
        try {
            socket.connect(member, CONNECT_MILLIS);
            socket.setSoTimeout(READ_MILLIS);
            socket.setTcpNoDelay(true);
        } catch (IOException failed) {
            close(socket);
            throw failed;
        }
        connections.put(member, socket);
        return socket;
    }

    private static void send(Socket socket, List<List<String>> commands) throws IOException {
        StringBuilder request = new StringBuilder();
        for (List<String> words : commands) {
            request.append('*').append(words.size()).append("\r\n");
            for (String word : words) {
                request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
            }
        }
        socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.US_ASCII));
    }

    /** One line, or the text of a bulk string. */
    private static String reply(InputStream in) throws IOException {
        String line = line(in);
        if (line.equals("$-1")) {
            return "(nil)";
        }
        return line.startsWith("$") ? line(in) : line;
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int read = in.read(); read != '\n'; read = in.read()) {
            if (read < 0) {
                throw new EOFException("the connection was closed");
            }
            line.append((char) read);
        }
        return line.toString().stripTrailing();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException ignored) {
            // Nothing more is read or written.
        }
    }

    @Override
    public void close() {
        for (Socket socket : new ArrayList<>(connections.values())) {
            close(socket);
        }
    }
}
