package io.varve.server.membership;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A member that answers one WAIT after the other as a test says. It serves one connection, on a thread of its own. */
final class ScriptedPrimary implements AutoCloseable {
    private static final int SECONDS = 60;
    /** WAIT 0 0. */
    private static final int LINES = 7;

    private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final Semaphore requests = new Semaphore(0);
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Thread thread = Thread.ofPlatform().daemon().unstarted(this::run);

    ScriptedPrimary() throws IOException {
        thread.start();
    }

    int port() {
        return listening.getLocalPort();
    }

    private void run() {
        try (Socket client = listening.accept();
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))) {
            while (true) {
                for (int i = 0; i < LINES; i++) {
                    if (in.readLine() == null) {
                        return;
                    }
                }
                requests.release();
                client.getOutputStream().write((answers.take() + "\r\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException ended) {
            // The member or this one has closed the connection.
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    void awaitRequest() throws InterruptedException {
        assertThat(requests.tryAcquire(SECONDS, TimeUnit.SECONDS)).as("a request").isTrue();
    }

    /** Whether there is a request that nobody has awaited. */
    boolean isAsked() {
        return requests.availablePermits() > 0;
    }

    void answer(String line) {
        answers.add(line);
    }

    @Override
    public void close() throws IOException {
        listening.close();
        thread.interrupt();
    }
}
