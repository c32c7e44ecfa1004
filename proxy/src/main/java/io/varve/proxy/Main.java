package io.varve.proxy;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.varve.server.admin.LogFile;
import io.varve.server.admin.LogLevel;
import io.varve.server.command.Version;
import io.varve.server.config.ConfigException;
import io.varve.server.system.Hangup;
import io.varve.server.system.PidFile;
import io.varve.server.system.ShutdownHook;
import io.varve.server.system.StandardError;

/** The command line: {@code proxy [FILE] [--NAME VALUE]…}, or {@code proxy --help}. Immutable: static methods only. */
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

    static int run(List<String> arguments, PrintStream out, PrintStream err) {
        if (arguments.contains("--help") || arguments.equals(List.of("-h"))) {
            ProxySettings.help(out);
            return 0;
        }
        ProxySettings settings;
        try {
            settings = ProxySettings.read(arguments);
        } catch (ConfigException bad) {
            return badSettings(bad, err);
        }
        Hangup.ignore();
        try (LogFile _ = LogFile.open(settings.file(ProxySetting.LOGFILE))) {
            LogLevel.apply(settings.text(ProxySetting.LOGLEVEL));
            return serve(settings, out, err);
        } catch (ConfigException bad) {
            return badSettings(bad, err);
        }
    }

    private static int badSettings(ConfigException bad, PrintStream err) {
        String.valueOf(bad.getMessage()).lines().forEach(line -> err.println("varve: " + line));
        return BAD_SETTING;
    }

    private static int serve(ProxySettings settings, PrintStream out, PrintStream err) {
        try (ShutdownHook hook = ShutdownHook.register();
                ProxyServer proxy = ProxyServer.start(settings);
                PidFile _ = PidFile.write(settings.file(ProxySetting.PIDFILE))) {
            out.println("Varve proxy " + Version.VARVE + ", process " + ProcessHandle.current().pid());
            boolean hasControllers = !settings.controllers().isEmpty();
            out.println(hasControllers
                    ? "  controllers  " + settings.text(ProxySetting.CONTROLLERS)
                    : "  members      " + settings.text(ProxySetting.MEMBERS));
            out.println("  listens      " + settings.text(ProxySetting.BIND) + " port " + (proxy.port() > 0
                    ? proxy.port() + (proxy.tlsPort() > 0 ? ", with TLS port " + proxy.tlsPort() : "")
                    : proxy.tlsPort() + " with TLS"));
            out.println("Ready to accept connections");
            out.flush();
            hook.awaitSignalOr(new CountDownLatch(1)::await);
            return 0;
        } catch (IOException failed) {
            err.println("varve: " + failed.getMessage());
            return CANNOT_START;
        }
    }
}
