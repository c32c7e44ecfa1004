package io.varve.server;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A socket that speaks bytes. Confined to the test's thread. */
public final class SocketClient implements Closeable {
    private final Socket socket;
    private final InputStream in;

    public SocketClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(10_000);
        in = socket.getInputStream();
    }

    public SocketClient send(String latin1) throws IOException {
        return send(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    public SocketClient send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    /** Sends a command as an array of bulks and reads one reply. */
    public String command(String... arguments) throws IOException {
        send(encode(arguments));
        return reply();
    }

    public static byte[] encode(String... arguments) {
        StringBuilder text = new StringBuilder("*").append(arguments.length).append("\r\n");
        for (String argument : arguments) {
            text.append('$').append(argument.length()).append("\r\n").append(argument).append("\r\n");
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** One whole reply as it came, aggregates with their elements. */
    public String reply() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        reply(out);
        return out.toString(StandardCharsets.ISO_8859_1);
    }

    private void reply(ByteArrayOutputStream out) throws IOException {
        String line = line(out);
        char kind = line.charAt(0);
        if (kind == '$' || kind == '=') {
            int length = Integer.parseInt(line.substring(1));
            if (length >= 0) {
                byte[] body = in.readNBytes(length + 2);
                if (body.length < length + 2) {
                    throw new IOException("The connection ended within a bulk");
                }
                out.writeBytes(body);
            }
        } else if ("*~>%".indexOf(kind) >= 0) {
            int count = Integer.parseInt(line.substring(1)) * (kind == '%' ? 2 : 1);
            for (int i = 0; i < count; i++) {
                reply(out);
            }
        }
    }

    private String line(ByteArrayOutputStream out) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read();; b = in.read()) {
            if (b < 0) {
                throw new IOException("The connection ended after: " + line);
            }
            out.write(b);
            if (b == '\n') {
                return line.substring(0, line.length() - 1);
            }
            line.append((char) b);
        }
    }

    /** Exactly so many bytes. */
    public String read(int length) throws IOException {
        return new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
    }

    /** Everything until the server closes. */
    public String readToEnd() throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
