/* For tests of studies: a model with its field. */
#ifndef TEST_SUPPORT_STUDY_H
#define TEST_SUPPORT_STUDY_H

#include "study/flow.h"
#include "support/motion.h"

typedef struct study {
    ns_model *model;
    ns_arena *arena;
    ns_flow *flow;
} study;

static inline study study_open(ns_model *model)
{
    study s = {.model = model, .arena = ns_arena_new()};
    assert_non_null(s.arena);
    s.flow = ns_flow_new(s.arena, ns_model_problem(model, true), 0, model->p, model->x0);
    return s;
}

static inline void study_close(study *s)
{
    ns_arena_free(s->arena);
    ns_model_free(s->model);
}

#endif
