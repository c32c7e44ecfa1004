package io.varve.server;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.admin.LogFile;
import io.varve.server.command.Version;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.MachineMemory;
import io.varve.server.config.MemoryUnits;
import io.varve.server.config.ServerConfig;
import io.varve.server.config.SettingsHelp;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.system.Hangup;
import io.varve.server.system.PidFile;
import io.varve.server.system.ShutdownHook;
import io.varve.server.system.StandardError;
import io.varve.server.system.Supervisor;

/** The command line: {@code serve [FILE] [--NAME VALUE]…}, or {@code serve --help}. Immutable: static methods only. */
public final class Main {
    private static final int BAD_SETTING = 2;
    private static final int CANNOT_START = 1;

    private Main() {}

    public static void main(String[] arguments) {
        StandardError.restore();
        int status = run(List.of(arguments), System.out, System.err);
        if (status != 0) {
            System.exit(status);
        }
    }

    public static int run(List<String> arguments, PrintStream out, PrintStream err) {
        List<String> rest = !arguments.isEmpty() && arguments.getFirst().equals("serve")
                ? arguments.subList(1, arguments.size())
                : arguments;
        if (rest.contains("--help") || rest.equals(List.of("-h"))) {
            SettingsHelp.print(out);
            return 0;
        }
        ServerConfig config;
        try {
            config = ConfigReader.read(rest);
        } catch (ConfigException bad) {
            return badSettings(bad, err);
        }
        Hangup.ignore();
        try (LogFile _ = LogFile.open(config.logFile())) {
            return serve(config, out, err);
        } catch (ConfigException bad) {
            return badSettings(bad, err);
        }
    }

    private static int badSettings(RuntimeException bad, PrintStream err) {
        String.valueOf(bad.getMessage()).lines().forEach(line -> err.println("varve: " + line));
        return BAD_SETTING;
    }

    private static int serve(ServerConfig config, PrintStream out, PrintStream err) {
        try (ShutdownHook hook = ShutdownHook.register();
                VarveServer server = VarveServer.start(config, hook::onSignal);
                PidFile _ = PidFile.write(config.pidFile())) {
            hook.waitWhile(server::isSaving);
            Supervisor supervisor = Supervisor.of(config.text("supervised"), System.getenv());
            banner(config, server, out);
            supervisor.ready();
            hook.awaitSignalOr(server::awaitShutdown);
            supervisor.stopping();
            return 0;
        } catch (LoadProgress.CancelledException stopped) {
            out.println("varve: " + stopped.getMessage());
            return 0;
        } catch (IOException failed) {
            err.println("varve: " + failed.getMessage());
            return CANNOT_START;
        } catch (IllegalArgumentException | ConfigException bad) {
            return badSettings(bad, err);
        } catch (OutOfMemoryError refused) {
            err.println(
                    "varve: maxmemory " + config.maxMemoryBytes() + ": the operating system refuses this much memory: "
                            + refused.getMessage());
            return CANNOT_START;
        }
    }

    private static void banner(ServerConfig config, VarveServer server, PrintStream out) {
        out.println("Varve " + Version.VARVE + " (speaks Redis " + Version.REDIS + "), process "
                + ProcessHandle.current().pid());
        out.println("  memory   " + MemoryUnits.human(config.maxMemoryBytes()) + " of "
                + MemoryUnits.human(MachineMemory.totalBytes()) + ", "
                + config.text("maxmemory-policy"));
        config.flashDirectory().ifPresent(directory -> out.println("  flash    " + config.text("flash-max-items")
                + " items in " + directory + ", " + config.text("flash-policy")));
        List<String> places = new ArrayList<>();
        if (!config.text("bind").isEmpty() && (server.port() != 0 || server.tlsPort() != 0)) {
            places.add(config.text("bind") + (server.port() == 0 ? "" : " port " + server.port())
                    + (server.tlsPort() == 0 ? "" : " tls-port " + server.tlsPort()));
        }
        if (config.unixSocket() != null) {
            places.add("unixsocket " + config.unixSocket());
        }
        out.println("  listens  " + String.join(", ", places));
        if (config.number("metrics-port") > 0) {
            out.println("  metrics  http://" + config.text("metrics-bind") + ":" + config.text("metrics-port")
                    + "/metrics");
        }
        out.println("Ready to accept connections");
        out.flush();
    }
}
