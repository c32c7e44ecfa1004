package io.varve.proxy.testing;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.varve.proxy.map.Endpoint;
import org.jspecify.annotations.Nullable;

/**
 * A member whose replies a test chooses. Thread-safe: a thread serves each connection, so a script must be thread-safe,
 * too.
 */
public final class ScriptedMember implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final Queue<String> requests = new ConcurrentLinkedQueue<>();
    private final Script script;

    /** Chooses the replies. Thread-safe. */
    @FunctionalInterface
    public interface Script {
        /**
         * The bytes that answer a request.
         *
         * @param request its words, separated by spaces
         * @return null for the usual reply: that of a server that has all slots and does nothing
         */
        @Nullable
        String reply(String request) throws InterruptedException;
    }

    public ScriptedMember(Script script) throws IOException {
        this.script = script;
        Thread.ofPlatform().daemon().start(this::accept);
    }

    public Endpoint endpoint() {
        return new Endpoint("127.0.0.1", listener.getLocalPort());
    }

    /** HOST:PORT. */
    public String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** The requests so far that are this text. */
    public long count(String request) {
        return requests.stream().filter(request::equals).count();
    }

    /** The reply to CLUSTER SLOTS of a server that has all slots. */
    public String slots() {
        return "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:" + listener.getLocalPort() + "\r\n$40\r\n"
                + "a".repeat(40) + "\r\n";
    }

    private String usual(String request) {
        return switch (request) {
            case "PING" -> "+PONG\r\n";
            case "CLUSTER SLOTS" -> slots();
            case "VARVE.COPIES" -> "-ERR unknown command\r\n";
            default -> "+OK\r\n";
        };
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                sockets.add(client);
                Thread.ofPlatform().daemon().start(() -> serve(client));
            }
        } catch (IOException closed) {
            sockets.forEach(ScriptedMember::close);
        }
    }

    private void serve(Socket client) {
        try (client; DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream()))) {
            while (true) {
                String request = read(in);
                requests.add(request);
                String reply = script.reply(request);
                client.getOutputStream()
                        .write((reply == null ? usual(request) : reply).getBytes(StandardCharsets.ISO_8859_1));
            }
        } catch (IOException closed) {
            close(client);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static String read(DataInputStream in) throws IOException {
        int count = number(in, '*');
        List<String> words = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] word = new byte[number(in, '$')];
            in.readFully(word);
            in.skipNBytes(2);
            words.add(new String(word, StandardCharsets.ISO_8859_1));
        }
        words.set(0, words.getFirst().toUpperCase(Locale.ROOT));
        return String.join(" ", words);
    }

    private static int number(DataInputStream in, char kind) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException();
            }
            line.append((char) next);
        }
        if (line.charAt(0) != kind) {
            throw new IOException("not a request: " + line);
        }
        return Integer.parseInt(line.substring(1).strip());
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        sockets.forEach(ScriptedMember::close);
    }
}
