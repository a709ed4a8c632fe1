/* environment.h -- the variables of the environment that the command looks at, as one table. */
#ifndef INCIPIT_ENVIRONMENT_H
#define INCIPIT_ENVIRONMENT_H

/* what a variable decides: the model, the kernels, the device, the number of workers, colours; and for pull the hub, who asks it, the way
   to it, and where models are kept */
enum variable { VARIABLE_MODEL, VARIABLE_ISA, VARIABLE_CUDA, VARIABLE_WORKERS, VARIABLE_PLAIN,
  VARIABLE_TERMINAL, VARIABLE_ENDPOINT, VARIABLE_TOKEN, VARIABLE_HUB_HOME, VARIABLE_PROXY, VARIABLE_CACHE, VARIABLE_HOME, N_VARIABLES };

/* what the user has set it to; null if it is empty or not set */
const char *environment_get(enum variable v);

/* its name, as a shell writes it */
const char *environment_name(enum variable v);

/* what it does, as a screen of help and the manual say it */
const char *environment_words(enum variable v);
#endif
