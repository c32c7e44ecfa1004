package io.varve.experiments.wire;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A server that sends one fixed reply to every client, whatever its request. It has its own thread. */
public final class CannedServer implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

    /** @param reply in RESP, each line ended by a line feed alone */
    public CannedServer(String reply) throws IOException {
        byte[] bytes = reply.replace("\n", "\r\n").getBytes(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().start(() -> {
            try (Socket client = socket.accept()) {
                client.getOutputStream().write(bytes);
                client.getOutputStream().flush();
                client.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
    }

    /** Sends a command and reads the reply. */
    public RespValue classList() throws IOException {
        try (RespConnection connection = new RespConnection(InetAddress.getLoopbackAddress().getHostAddress(),
                socket.getLocalPort())) {
            return connection.execute("VARVE.CLASS", "LIST");
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
