package io.varve.server.clustering;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Sends keys to another server, for MIGRATE, on a virtual thread. One thread configures it and reads the result after
 * {@link #isDone}; the transfer's own thread writes it.
 */
public final class KeyTransfer {
    private static final int MAX_LINE_BYTES = 64 << 10;

    /**
     * Where the keys go. Immutable.
     *
     * @param timeoutMillis for the connection, and for each wait for the other server
     * @param login the arguments of AUTH; empty: none
     * @param restore the command that creates a key there: RESTORE, or RESTORE-ASKING in a cluster
     */
    public record Target(String host, int port, int timeoutMillis, int database, List<byte[]> login, String restore) {}

    /**
     * A key to send. Immutable; nobody changes the arrays.
     *
     * @param index its number among the keys of MIGRATE
     * @param payload of DUMP; null: the key is deleted there
     * @param expireAtMillis 0: never
     */
    // Nobody compares two of them.
    @SuppressWarnings("ArrayRecordComponent")
    public record Sent(int index, byte[] name, byte @Nullable [] payload, long expireAtMillis) {}

    private final Target target;
    private final List<Sent> keys;
    private final @Nullable String[] errors;
    private @Nullable String failure;
    /** The keys at the front of the list that the other server has answered for. */
    private int answered;
    private volatile @Nullable Socket socket;
    private volatile boolean cancelled;
    private volatile boolean done;
    private final boolean replaces;

    /** @param replaces whether keys that exist there are overwritten */
    public KeyTransfer(Target target, List<Sent> keys, boolean replaces) {
        this.target = target;
        this.keys = List.copyOf(keys);
        this.replaces = replaces;
        errors = new String[keys.size()];
    }

    public List<Sent> keys() {
        return keys;
    }

    /**
     * Begins.
     *
     * @param nowMillis what the expiry times count from
     * @param whenDone runs on the transfer's thread at the end
     */
    public void start(long nowMillis, Runnable whenDone) {
        Thread.ofVirtual().name("migrate").start(() -> {
            try {
                send(nowMillis);
            } finally {
                done = true;
                whenDone.run();
            }
        });
    }

    /** Ends it early: its client has disconnected. Any thread may call it. */
    public void cancel() {
        cancelled = true;
        Socket open = socket;
        if (open != null) {
            close(open);
        }
    }

    private static void close(Socket open) {
        try {
            open.close();
        } catch (IOException ignored) {
            // Nothing more is read or written.
        }
    }

    public boolean isDone() {
        return done;
    }

    /** Why not all keys have been answered for; null if all have. */
    public @Nullable String failure() {
        return failure;
    }

    /** The error of the other server for the n-th of {@link #keys}; null if it has the key. */
    public @Nullable String error(int n) {
        return errors[n];
    }

    /** Whether the other server has the n-th of {@link #keys}. */
    public boolean isStored(int n) {
        return errors[n] == null && answered > n;
    }

    private void send(long nowMillis) {
        String step = "writing to";
        try (Socket open = new Socket()) {
            socket = open;
            if (cancelled) {
                return;
            }
            open.connect(new InetSocketAddress(target.host(), target.port()), target.timeoutMillis());
            open.setSoTimeout(target.timeoutMillis());
            open.setTcpNoDelay(true);
            OutputStream out = new BufferedOutputStream(open.getOutputStream());
            int introductions = introduce(out);
            for (Sent key : keys) {
                write(out, key, nowMillis);
            }
            out.flush();
            step = "reading from";
            InputStream in = new BufferedInputStream(open.getInputStream());
            for (int i = 0; i < introductions; i++) {
                String reply = line(in);
                if (reply.startsWith("-") && failure == null) {
                    failure = "ERR Target instance replied with error: " + reply.substring(1);
                }
            }
            if (failure == null) {
                readAnswers(in);
            }
        } catch (IOException | IllegalArgumentException failed) {
            failure = "IOERR error or timeout " + step + " target instance";
        }
    }

    /** @return the number of replies to read first */
    private int introduce(OutputStream out) throws IOException {
        int replies = 0;
        if (!target.login().isEmpty()) {
            List<byte[]> words = new ArrayList<>(List.of(text("AUTH")));
            words.addAll(target.login());
            write(out, words);
            replies++;
        }
        if (target.database() != 0) {
            write(out, List.of(text("SELECT"), text(Integer.toString(target.database()))));
            replies++;
        }
        return replies;
    }

    private void write(OutputStream out, Sent key, long nowMillis) throws IOException {
        byte[] payload = key.payload();
        if (payload == null) {
            if (!target.restore().equals("RESTORE")) {
                write(out, List.of(text("ASKING")));
            }
            write(out, List.of(text("DEL"), key.name()));
            return;
        }
        long ttl = key.expireAtMillis() == 0 ? 0 : Math.max(1, key.expireAtMillis() - nowMillis);
        List<byte[]> words = new ArrayList<>(
                List.of(text(target.restore()), key.name(), text(Long.toString(ttl)), payload));
        if (replaces) {
            words.add(text("REPLACE"));
        }
        write(out, words);
    }

    private void readAnswers(InputStream in) throws IOException {
        for (Sent key : keys) {
            if (key.payload() == null && !target.restore().equals("RESTORE")) {
                line(in);
            }
            String reply = line(in);
            errors[answered] = reply.startsWith("-") ? reply.substring(1) : null;
            answered++;
        }
    }

    private static byte[] text(String word) {
        return word.getBytes(StandardCharsets.UTF_8);
    }

    private static void write(OutputStream out, List<byte[]> words) throws IOException {
        out.write(text("*" + words.size() + "\r\n"));
        for (byte[] word : words) {
            out.write(text("$" + word.length + "\r\n"));
            out.write(word);
            out.write(text("\r\n"));
        }
    }

    /** The replies to these commands have one line. */
    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0 || line.length() > MAX_LINE_BYTES) {
                throw new EOFException();
            }
            line.append((char) next);
        }
        return line.toString().stripTrailing();
    }
}
