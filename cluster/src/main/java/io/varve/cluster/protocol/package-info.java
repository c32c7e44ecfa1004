/** What members, controllers and the command line say to each other: commands, heartbeats, views and their bytes. */
@NullMarked
package io.varve.cluster.protocol;

import org.jspecify.annotations.NullMarked;
