package io.varve.server;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A RESP client over a plain socket, which hides nothing of what the server sent. Confined to one thread.
 */
final class RawClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 20_000;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    RawClient(int port) throws IOException {
        socket = new Socket();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
        out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
    }

    /** Queues a command. */
    void write(List<byte[]> arguments) throws IOException {
        out.write(("*" + arguments.size() + "\r\n").getBytes(StandardCharsets.US_ASCII));
        for (byte[] argument : arguments) {
            out.write(("$" + argument.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
            out.write(argument);
            out.write('\r');
            out.write('\n');
        }
    }

    void flush() throws IOException {
        out.flush();
    }

    RawReply call(String... arguments) throws IOException {
        write(java.util.Arrays.stream(arguments).map(a -> a.getBytes(StandardCharsets.ISO_8859_1)).toList());
        flush();
        return read();
    }

    /** The next reply. */
    RawReply read() throws IOException {
        String line = readLine();
        char kind = line.charAt(0);
        String head = line.substring(1);
        return switch (kind) {
            case '+', '-', ':', '_', ',', '#', '(' -> new RawReply(kind, head, List.of());
            case '$', '=' -> head.equals("-1")
                    ? new RawReply(kind, "-1 (null)", List.of())
                    : new RawReply(kind, readBulk(Integer.parseInt(head)), List.of());
            case '*', '~', '>' -> head.equals("-1")
                    ? new RawReply(kind, "-1 (null)", List.of())
                    : new RawReply(kind, head, readElements(Integer.parseInt(head)));
            case '%' -> new RawReply(kind, head, readElements(2 * Integer.parseInt(head)));
            default -> throw new IOException("Not a reply: " + line);
        };
    }

    private List<RawReply> readElements(int count) throws IOException {
        List<RawReply> elements = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            elements.add(read());
        }
        return elements;
    }

    private String readBulk(int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length || in.read() != '\r' || in.read() != '\n') {
            throw new EOFException("A bulk of " + length + " bytes does not end as it should");
        }
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            int c = in.read();
            if (c < 0) {
                throw new EOFException("The server closed the connection after: " + line);
            }
            if (c == '\r') {
                if (in.read() != '\n' || line.size() == 0) {
                    throw new IOException("Not a line of a reply: " + line);
                }
                return line.toString(StandardCharsets.ISO_8859_1);
            }
            line.write(c);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
