package io.varve.experiments.run.ycsb;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.result.RunFiles;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.LoadGauge;
import io.varve.experiments.server.Pinning;
import org.jspecify.annotations.Nullable;

/**
 * Runs one phase of YCSB's client in its own JVM, so that load and server never share a heap or, where cores allow, a
 * core. Confined to the thread that runs it; its own reader thread reads the output.
 */
final class YcsbProcess {
    private static final long POLL_MILLIS = 100;
    /** Heap options of a client alone. */
    static final List<String> CLIENT_HEAP = List.of("-Xmx768m");
    /** A client uses the compilers of this JVM; tests, whose clients live for a second, run without C2. */
    private static final List<String> COMPILER = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(option -> option.startsWith("-XX:TieredStopAtLevel="))
            .toList();

    private final Path directory;
    private final String cores;
    private final LoadGauge gauge;
    private final List<String> heap;

    /** @param heap options of its JVM */
    YcsbProcess(Path directory, String cores, LoadGauge gauge, List<String> heap) {
        this.directory = directory;
        this.cores = cores;
        this.gauge = gauge;
        this.heap = heap;
    }

    /**
     * Runs a phase to its end, or until it is cancelled.
     *
     * @param name the heading of the phase in ycsb.txt
     * @param arguments the arguments for site.ycsb.Client, without the properties
     * @param properties the properties of the workload and the binding
     * @return its parsed output; the caller judges whether it succeeded
     */
    YcsbOutput run(String name, List<String> arguments, Map<String, String> properties, Cancellation cancellation)
            throws IOException {
        Process process = new ProcessBuilder(Pinning.command(cores, command(arguments, properties)))
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        YcsbOutput output = new YcsbOutput();
        Reader reader = new Reader(process, output, name);
        Thread thread = Thread.ofPlatform().daemon().name("ycsb-output").start(reader);
        try {
            while (process.isAlive() && !cancellation.isCancelled()) {
                process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
            }
            if (process.isAlive()) {
                process.destroy(); // YCSB ends its threads and still prints its results
                if (!process.waitFor(5, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            }
            thread.join();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            cancellation.cancel();
        } finally {
            gauge.set(0);
        }
        if (reader.fault != null) {
            throw reader.fault;
        }
        return output;
    }

    private List<String> command(List<String> arguments, Map<String, String> properties) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC",
                        "-Duser.language=en", "-Duser.country=US",
                        "-Xlog:disable",
                        "-Xlog:all=error:stderr", "-Dlogback.configurationFile=io/varve/experiments/logback-quiet.xml",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp", System.getProperty("java.class.path"), "site.ycsb.Client", "-s"));
        command.addAll(1, heap);
        command.addAll(1, COMPILER);
        command.addAll(arguments);
        properties.forEach((key, value) -> {
            command.add("-p");
            command.add(key + "=" + value);
        });
        return command;
    }

    /**
     * Copies the output to ycsb.txt and parses it. Single writer of its fault, which is read after the thread's end.
     */
    private final class Reader implements Runnable {
        private final Process process;
        private final YcsbOutput output;
        private final String name;
        private @Nullable IOException fault;

        Reader(Process process, YcsbOutput output, String name) {
            this.process = process;
            this.output = output;
            this.name = name;
        }

        @Override
        public void run() {
            try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8);
                    BufferedWriter out = Files.newBufferedWriter(directory.resolve(RunFiles.YCSB_TXT),
                            StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
                out.write("## " + name + "\n");
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    out.write(line + "\n");
                    if (output.add(line)) {
                        gauge.set(output.currentRate());
                        gauge.done(output.operations());
                        out.flush();
                    }
                }
            } catch (IOException e) {
                fault = e;
            }
        }
    }
}
