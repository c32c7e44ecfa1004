package io.varve.server.command.server;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;

/**
 * LOLWUT: draws varves, the layers that the summers and winters of each year leave on the ground of a lake. Immutable.
 */
final class Lolwut {
    private static final int COLUMNS = 66;
    private static final int ROWS = 16;
    private static final int MAX_COLUMNS = 1_000;
    private static final int MAX_ROWS = 200;
    /** A summer's layer and a winter's, by turns: the light ones are thick, the dark ones thin. */
    private static final char[] SHADES = {'░', '█', '▒', '▓'};
    private static final double THINNEST = 0.6;
    private static final double SUMMER = 1.8;
    private static final double WINTER = 0.7;

    private final ServerState server;

    Lolwut(ServerState server) {
        this.server = server;
    }

    void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("lolwut").arity(-1).group("server").since("5.0.0").flags(READONLY, FAST)
                .summary("Displays computer art and the version").handler(this::draw));
    }

    /** {@code LOLWUT [VERSION version] [columns] [rows]}: all versions draw the same. */
    private void draw(CommandContext context) {
        int next = 1;
        if (context.argumentCount() > 2 && context.argumentIs(1, "VERSION")) {
            if (!context.requireLong(2)) {
                return;
            }
            next = 3;
        }
        boolean isVersionAlone = context.argumentCount() == 2 && context.argumentIs(1, "VERSION");
        int[] size = {COLUMNS, ROWS};
        int[] largest = {MAX_COLUMNS, MAX_ROWS};
        for (int i = 0; i < size.length && next + i < context.argumentCount() && !isVersionAlone; i++) {
            if (!context.requireLong(next + i)) {
                return;
            }
            size[i] = Math.clamp(context.longValue(), 1, largest[i]);
        }
        context.reply().verbatim("txt", drawing(size[0], size[1], ThreadLocalRandom.current())
                + "\nThe years of a lake, one light and one dark layer each.\nVarve "
                + server.telemetry().varveVersion() + ", Redis ver. " + server.telemetry().redisVersion() + "\n");
    }

    /** Layers of random thickness, bent by two waves. */
    static String drawing(int columns, int rows, RandomGenerator random) {
        double height = 1 + rows / 8.0;
        double length = 8 + random.nextDouble(30);
        double phase = random.nextDouble(2 * Math.PI);
        List<Double> ends = new ArrayList<>();
        double end = 0;
        while (end < rows + 4 * height) {
            double mean = ends.size() % 2 == 0 ? SUMMER : WINTER;
            end += Math.max(THINNEST, mean * (0.5 + random.nextDouble()));
            ends.add(end);
        }
        StringBuilder text = new StringBuilder();
        for (int y = 0; y < rows; y++) {
            for (int x = 0; x < columns; x++) {
                double bent = y + 2 * height + height * Math.sin(x / length + phase)
                        + height / 2 * Math.sin(2.7 * x / length);
                int layer = 0;
                while (ends.get(layer) < bent) {
                    layer++;
                }
                text.append(SHADES[layer % SHADES.length]);
            }
            text.append('\n');
        }
        return text.toString();
    }
}
