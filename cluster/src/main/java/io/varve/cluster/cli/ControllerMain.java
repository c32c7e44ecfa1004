package io.varve.cluster.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;

import io.varve.cluster.controller.Controller;
import io.varve.cluster.controller.ControllerConfig;
import io.varve.cluster.protocol.ControllerAddress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The verb {@code controller}: runs a controller until a signal ends it. Confined to the main thread.
 *
 * <p>The launcher supplies the logging backend on the class path, so that this module needs none.
 */
@Command(name = "controller", mixinStandardHelpOptions = true, sortOptions = false, header = "Starts a controller.", synopsisHeading = "Usage: controller [FILE] [--NAME VALUE]...%n", customSynopsis = "", description = {
        "", "A controller is one of the one, three or five processes that hold the slot map of a",
        "cluster, grant leases to its members and promote replicas. FILE has lines NAME VALUE.", ""})
public final class ControllerMain implements Callable<Integer> {
    @Option(names = "--port", paramLabel = "PORT", required = true, description = "the port of this controller")
    private int port;
    @Option(names = "--dir", paramLabel = "DIR", required = true, description = "the folder for its log")
    private Path directory = Path.of("");
    @Option(names = "--peers", paramLabel = "ID@HOST:PORT,...", defaultValue = "", description = "all controllers, this one included; default: 1@127.0.0.1:PORT")
    private String peers = "";
    @Option(names = "--id", paramLabel = "ID", defaultValue = "", description = "its ID in --peers; default: that of the only entry with its port")
    private String id = "";
    @Option(names = "--bind", paramLabel = "ADDRESS", defaultValue = "", description = "the address it listens on; default: the host of its entry in --peers")
    private String bind = "";
    @Option(names = "--lease-ms", paramLabel = "N", defaultValue = "1000", description = "the lease of a member (${DEFAULT-VALUE}); equal on all controllers")
    private long leaseMillis;
    @Option(names = "--heartbeat-ms", paramLabel = "N", defaultValue = "200", description = "between heartbeats of a member (${DEFAULT-VALUE})")
    private long heartbeatMillis;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    public static void main(String[] arguments) {
        System.exit(execute(CommandLines.standardOutput(), CommandLines.standardError(), arguments));
    }

    /** Runs a controller. @return the exit status */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        List<String> options = new ArrayList<>(List.of(arguments));
        try {
            if (!options.isEmpty() && !options.getFirst().startsWith("-")) {
                // Options after the file override it.
                options.addAll(0, SettingsFile.options(Path.of(options.removeFirst())));
            }
            return CommandLines.execute(new ControllerMain(), lastOfEach(options), out, err);
        } catch (IllegalArgumentException wrong) {
            err.println("varve: " + wrong.getMessage());
            return CommandLines.BAD_SETTING;
        }
    }

    /** Leaves out what a later option of the same name overrides. */
    private static List<String> lastOfEach(List<String> options) {
        List<String> last = new ArrayList<>();
        for (int i = 0; i < options.size(); i++) {
            String name = options.get(i);
            boolean isPair = name.startsWith("--") && i + 1 < options.size() && !options.get(i + 1).startsWith("--");
            if (isPair && options.subList(i + 2, options.size()).contains(name)) {
                i++;
            } else {
                last.add(name);
            }
        }
        return last;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        ControllerConfig config = config();
        Controller controller;
        try {
            controller = Controller.start(config);
        } catch (IOException failed) {
            throw new IOException("the controller cannot start on " + config.own().address() + " with dir "
                    + directory + ": " + rootMessage(failed), failed);
        }
        Thread shutdown = Thread.ofPlatform().unstarted(() -> close(controller));
        Runtime.getRuntime().addShutdownHook(shutdown);
        PrintWriter out = spec.commandLine().getOut();
        out.println("Varve controller " + config.id() + ", port " + config.own().port() + ", pid "
                + ProcessHandle.current().pid() + ", dir " + directory.toAbsolutePath());
        out.println("Ready to accept connections");
        try {
            controller.ended().join();
            return 0;
        } catch (CompletionException failed) {
            throw new IOException("the controller has ended: " + rootMessage(failed), failed);
        }
    }

    /** Runs when a signal ends the process. */
    private static void close(Controller controller) {
        boolean hasFailed = controller.ended().isCompletedExceptionally();
        try {
            controller.close();
        } catch (IOException failed) {
            System.err.println("varve: the controller did not end properly: " + failed.getMessage());
        }
        if (!hasFailed) {
            // The JVM would exit with the signal's status (143), although the requested shutdown has succeeded.
            Runtime.getRuntime().halt(0);
        }
    }

    /** The message of the innermost cause that has one. */
    private static String rootMessage(Throwable failed) {
        String message = failed.toString();
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null) {
                message = cause.getMessage();
            }
        }
        return message;
    }

    private ControllerConfig config() {
        List<ControllerAddress> all = peers.isEmpty()
                ? List.of(new ControllerAddress(id.isEmpty() ? "1" : id, "127.0.0.1", port))
                : ControllerAddress.parseList(peers);
        List<ControllerAddress> own = all.stream()
                .filter(peer -> id.isEmpty() ? peer.port() == port : peer.id().equals(id)).toList();
        if (own.size() != 1) {
            throw new IllegalArgumentException(id.isEmpty()
                    ? "peers: " + own.size() + " entries have the port " + port + ": expected one, or --id"
                    : "id '" + id + "': expected one of the IDs in peers");
        }
        if (own.getFirst().port() != port) {
            throw new IllegalArgumentException("port " + port + ": expected " + own.getFirst().port()
                    + ", as in the entry of " + id + " in peers");
        }
        return new ControllerConfig(own.getFirst().id(), bind, directory, all, leaseMillis, heartbeatMillis);
    }
}
