package io.varve.cluster.demo;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.cluster.map.HashSlot;

/**
 * A cluster client as small as one can be: it remembers the member of each slot, follows MOVED, and asks another member
 * after a failure. Confined to one thread.
 *
 * <p>Applications use Lettuce, Jedis, redis-py and so on, which do the same.
 */
final class DemoClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 500;
    private static final int MAX_REDIRECTIONS = 5;

    private final List<Integer> ports;
    private final Map<Integer, Integer> portOfSlot = new HashMap<>();
    private final Map<Integer, Socket> connections = new HashMap<>();
    private int next;

    /** @param ports of the members on this machine */
    DemoClient(List<Integer> ports) {
        this.ports = List.copyOf(ports);
    }

    /**
     * Sends a command on one key to the member that has it.
     *
     * @return the reply as one line
     * @throws IOException if the member does not reply; another one is asked the next time
     */
    String call(String... words) throws IOException {
        int slot = HashSlot.of(words[1]);
        for (int i = 0; i < MAX_REDIRECTIONS; i++) {
            int port = portOfSlot.computeIfAbsent(slot, _ -> ports.get(next++ % ports.size()));
            String reply;
            try {
                reply = send(port, words);
            } catch (IOException failed) {
                portOfSlot.remove(slot);
                disconnect(port);
                throw failed;
            }
            if (!reply.startsWith("-MOVED ")) {
                return reply;
            }
            portOfSlot.put(slot, Integer.parseInt(reply.substring(reply.lastIndexOf(':') + 1)));
        }
        throw new IOException("too many redirections");
    }

    private String send(int port, String... words) throws IOException {
        Socket socket = connections.get(port);
        if (socket == null) {
            socket = new Socket();
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            connections.put(port, socket);
        }
        StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) {
            request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.US_ASCII));
        InputStream in = new BufferedInputStream(socket.getInputStream(), 1);
        String first = line(in);
        return first.startsWith("$") && !first.equals("$-1") ? line(in) : first;
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

    private void disconnect(int port) throws IOException {
        Socket socket = connections.remove(port);
        if (socket != null) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        for (int port : List.copyOf(connections.keySet())) {
            disconnect(port);
        }
    }
}
