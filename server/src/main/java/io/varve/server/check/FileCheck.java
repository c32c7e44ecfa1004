package io.varve.server.check;

import java.io.Console;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

import io.varve.memory.item.Ticker;
import io.varve.server.rdb.RdbException;
import io.varve.server.system.NativeMemory;
import io.varve.server.system.StandardError;

/**
 * The command line of the verbs {@code check-rdb FILE} and {@code check-log DIR [--repair]}. Confined to one thread.
 *
 * <p>The exit status is 0 if what was checked is valid or was repaired, 1 if it is damaged, 2 for wrong use or if it
 * cannot be read.
 */
public final class FileCheck {
    static final int VALID = 0;
    static final int DAMAGED = 1;
    static final int UNREADABLE = 2;
    private static final String RDB_USAGE = "check-rdb FILE";
    private static final String LOG_USAGE = "check-log DIR [--repair]";

    private final Ticker ticker;
    private final Progress progress;
    private final PrintStream out;
    private final PrintStream err;

    /** @param terminal whether {@code out} is one */
    FileCheck(Ticker ticker, boolean terminal, PrintStream out, PrintStream err) {
        this.ticker = ticker;
        this.out = out;
        this.err = err;
        progress = new Progress(terminal, ticker, out);
    }

    public static void main(String[] arguments) {
        StandardError.restore();
        boolean terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
        int status = new FileCheck(Ticker.system(), terminal, System.out, System.err).run(List.of(arguments));
        if (status != VALID) {
            System.exit(status);
        }
    }

    /** @return the exit status */
    int run(List<String> arguments) {
        try {
            return check(arguments);
        } catch (NoSuchFileException missing) {
            return fail(missing.getFile() + ": there is no such file");
        } catch (AccessDeniedException denied) {
            return fail(denied.getFile() + ": permission denied");
        } catch (IOException failed) {
            return fail(String.valueOf(failed.getMessage()));
        } catch (InvalidPathException wrong) {
            return fail(SafeText.quote(wrong.getInput()) + ": expected the name of a file");
        } catch (InternalError fault) {
            // The JVM throws it if mapped bytes cannot be read.
            return fail("the disk cannot read a file, or another program has shortened it meanwhile");
        } catch (OutOfMemoryError full) {
            return fail("a text of the file does not fit into the memory of this machine: " + full.getMessage());
        } finally {
            progress.end();
            out.flush();
        }
    }

    private int fail(String message) {
        progress.end();
        err.println("varve: " + message);
        return UNREADABLE;
    }

    private int check(List<String> arguments) throws IOException {
        String verb = arguments.isEmpty() ? "" : arguments.getFirst();
        List<String> rest = arguments.isEmpty() ? arguments : arguments.subList(1, arguments.size());
        if (rest.contains("--help") || rest.equals(List.of("-h"))) {
            out.println("Usage: " + (verb.equals("check-log") ? LOG_USAGE : RDB_USAGE));
            return VALID;
        }
        List<String> names = rest.stream().filter(argument -> !argument.startsWith("--")).toList();
        boolean isRepair = rest.contains("--repair");
        if (verb.equals("check-rdb") && names.size() == 1 && rest.size() == 1) {
            return checkRdb(Path.of(names.getFirst()));
        }
        if (verb.equals("check-log") && names.size() == 1 && rest.size() == (isRepair ? 2 : 1)) {
            return checkLog(Path.of(names.getFirst()), isRepair);
        }
        return fail(switch (verb) {
            case "check-rdb" -> "check-rdb: expected " + RDB_USAGE;
            case "check-log" -> "check-log: expected " + LOG_USAGE;
            default -> "expected " + RDB_USAGE + ", or " + LOG_USAGE;
        });
    }

    private int checkRdb(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            if (Files.exists(file)) {
                throw new FileSystemException(file.toString(), null, "expected an RDB file");
            }
            throw new NoSuchFileException(file.toString());
        }
        try (NativeMemory memory = new NativeMemory()) {
            MemorySegment bytes = memory.map(file);
            progress.begin(file.toString());
            RdbReport report = RdbReport.of(bytes, ticker.wallMillis(), progress);
            progress.end();
            out.println("File      " + file + ", " + Table.number(bytes.byteSize()) + " bytes");
            report.print(out);
            RdbException problem = report.problem();
            if (problem != null) {
                out.println((problem.isDamage() ? "RDB is damaged: " : "RDB cannot be read: ") + problem.getMessage());
                return problem.isDamage() ? DAMAGED : UNREADABLE;
            }
            long behind = bytes.byteSize() - report.end();
            if (behind > 0 && !report.isFollowedByCommands()) {
                out.println("RDB is damaged: offset " + report.end() + ": " + Table.number(behind)
                        + " bytes follow the end of the RDB data");
                return DAMAGED;
            }
            if (behind > 0) {
                out.println("Commands follow the RDB data, " + Table.number(behind) + " bytes, which were not read");
            }
            out.println("RDB is valid: " + Table.number(report.keys()) + " keys");
            return VALID;
        }
    }

    private int checkLog(Path given, boolean isRepair) throws IOException {
        LogDirectory directory = LogDirectory.find(given);
        if (isRepair) {
            LogRepair.requireAbsent(directory);
        }
        LogReport report = LogReport.of(directory, ticker.wallMillis(), progress);
        progress.end();
        report.print(out);
        return isRepair ? LogRepair.run(directory, report, out) : report.status();
    }
}
