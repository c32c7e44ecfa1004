package io.varve.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;

import io.varve.server.system.StandardError;
import io.varve.server.training.TrainingClient;
import io.varve.server.training.TrainingKeys;
import io.varve.server.training.TrainingWorkload;
import org.jspecify.annotations.Nullable;

/**
 * The training run of the AOT cache: starts a server as {@link Main} does, sends it a workload over all families of
 * commands, and ends it. Its own thread sends the workload; it ends before the server does.
 *
 * <p>The JVM keeps in the cache which classes were loaded and linked (JEP 483), and the profiles of methods (JEP 515).
 * A later start compiles hot methods sooner, with the profile of a warm server.
 *
 * <p>C2 inlines a call if at least nine tenths of the calls in the profile have the same target. So RESP2 without
 * encryption, the most frequent kind of connection, sends more than nine tenths of the commands.
 */
public final class TrainingRun {
    /** Requests of a frequent command at a pipeline: what C2 wants to see before it compiles a method. */
    private static final int REQUESTS = 6000;
    /** Divisor of the requests without a pipeline, each of which is a system call or two. */
    private static final int UNBATCHED = 3;
    /** Divisor of the requests in RESP3, and over TLS. */
    private static final int LESS_FREQUENT = 20;
    private static final int CONNECTIONS = 16;
    private static final int TLS_CONNECTIONS = 4;
    private static final int[] PIPELINES = {1, 16, 64};
    private static final String READY = "Ready to accept connections";
    private static final int FAILED = 1;
    /** Longer than the launcher waits. */
    private static final int MAX_MINUTES = 10;

    private final int port;
    private final int tlsPort;
    private final @Nullable TrainingKeys keys;
    private final int requests;

    private TrainingRun(int port, int tlsPort, @Nullable TrainingKeys keys, int requests) {
        this.port = port;
        this.tlsPort = tlsPort;
        this.keys = keys;
        this.requests = requests;
    }

    /**
     * Exits with the server's status, or with 1 if a part of the workload failed.
     *
     * @param arguments a folder with {@link TrainingKeys#STORE}; without that file nothing is sent over TLS
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        StandardError.restore();
        Thread.ofPlatform().daemon().name("training-limit").start(TrainingRun::endInTime);
        System.exit(run(Path.of(arguments[0]), REQUESTS, System.err));
    }

    /** Ends a run that hangs, even if the launcher that watches it is gone. */
    private static void endInTime() {
        try {
            TimeUnit.MINUTES.sleep(MAX_MINUTES);
            Runtime.getRuntime().halt(FAILED);
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }

    /** @param requests number of requests of a frequent command at a pipeline */
    static int run(Path folder, int requests, PrintStream err) throws IOException, InterruptedException {
        TrainingKeys keys = null;
        try {
            keys = TrainingKeys.in(folder);
        } catch (IOException | GeneralSecurityException absent) {
            err.println("varve: the training run has no connections over TLS: " + absent);
        }
        int[] ports = freePorts();
        return new TrainingRun(ports[0], ports[1], keys, requests).serve(err);
    }

    /** Two ports that differ: both sockets are open at the same time. */
    private static int[] freePorts() throws IOException {
        try (ServerSocket one = freePort(); ServerSocket another = freePort()) {
            return new int[] {one.getLocalPort(), another.getLocalPort()};
        }
    }

    private static ServerSocket freePort() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    private int serve(PrintStream err) throws IOException, InterruptedException {
        // It must not load the user's snapshot from the working directory.
        List<String> settings = new ArrayList<>(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1",
                "--maxmemory", "64mb", "--dbfilename", "training-run-" + ProcessHandle.current().pid() + ".rdb"));
        if (keys != null) {
            settings.addAll(keys.settings(tlsPort));
        }
        try (ExecutorService executor = Executors.newSingleThreadExecutor();
                PipedInputStream banner = new PipedInputStream()) {
            Future<?> workload;
            int status;
            try (PrintStream out = new PrintStream(new PipedOutputStream(banner), false, StandardCharsets.UTF_8)) {
                workload = executor.submit(() -> {
                    train(banner, err);
                    return null;
                });
                status = Main.run(settings, out, err);
            }
            workload.get();
            return status;
        } catch (ExecutionException failed) {
            err.println("varve: the training run failed: " + failed.getCause());
            return FAILED;
        }
    }

    private void train(PipedInputStream banner, PrintStream err) throws IOException {
        awaitReady(banner);
        SocketFactory plain = SocketFactory.getDefault();
        try {
            for (int pipeline : PIPELINES) {
                int often = pipeline == 1 ? requests / UNBATCHED : requests;
                send(plain, port, CONNECTIONS, "2", pipeline, often, err);
                send(plain, port, CONNECTIONS, "3", pipeline, often / LESS_FREQUENT, err);
                if (keys != null) {
                    send(keys.sockets(), tlsPort, TLS_CONNECTIONS, "2", pipeline, often / LESS_FREQUENT, err);
                }
            }
        } finally {
            try (TrainingClient client = new TrainingClient(plain, port, 1)) {
                client.send("SHUTDOWN", "NOSAVE");
            }
        }
    }

    /** @throws IOException if the server did not start */
    private static void awaitReady(PipedInputStream banner) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(banner, StandardCharsets.UTF_8));
        String line = lines.readLine();
        while (line != null && !line.equals(READY)) {
            line = lines.readLine();
        }
        if (line == null) {
            throw new IOException("the server did not start");
        }
    }

    private static void send(SocketFactory sockets, int port, int connections, String protocol, int pipeline,
            int requests, PrintStream err) throws IOException {
        try (TrainingClient client = new TrainingClient(sockets, port, connections);
                TrainingClient other = new TrainingClient(sockets, port, 1)) {
            client.onEach("HELLO", protocol);
            other.onEach("HELLO", protocol);
            new TrainingWorkload(client, other, pipeline, Math.max(1, requests)).run();
            if (client.errors() + other.errors() > 0) {
                err.println("varve: the training run had " + (client.errors() + other.errors())
                        + " error replies, the first ones: " + client.firstError() + " " + other.firstError());
            }
        }
    }
}
